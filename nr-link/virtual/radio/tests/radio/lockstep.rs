// SPDX-License-Identifier: Apache-2.0
//! The radio's program between stand-ins for both modems.

use std::net::Shutdown;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use nr_link_virtual_plan::radio::{Answer, Request};

use crate::modems::{
    ADVANCE, Client, GNB_LEAD_SLOTS, PATIENCE, SLOT, Testbed, UE_LEAD_SLOTS, end, eventually,
};

#[test]
fn a_radio_runs_slot_by_slot() {
    let folder = tempfile::tempdir().unwrap();
    let silent = |_: u64, _: [i16; 2]| {};
    let testbed = Testbed::start(folder, "", [silent, silent]);
    let (socket, sent, kept) = (&testbed.socket, &testbed.sent, &testbed.ue);
    let mut hosts = Client::connect(socket);
    eventually(|| (hosts.state().connected_ues == 1).then_some(()));
    assert!(matches!(
        hosts.ask(&Request::Begin { utc_ns: 0 }),
        Answer::Failed { .. }
    ));
    // Free, the radio runs by itself.
    eventually(|| (sent.load(Ordering::SeqCst) > 1000 * SLOT).then_some(()));
    // While the UE attaches, it waits for the modems' work: for long where that does not end.
    let mut busy = Command::new("sh")
        .args(["-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let processes = vec![busy.id()];
    assert_eq!(hosts.ask(&Request::Pace { processes }), Answer::Done);
    let before = sent.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(300));
    assert!(sent.load(Ordering::SeqCst) < before + 100 * SLOT);
    busy.kill().unwrap();
    busy.wait().unwrap();
    eventually(|| (sent.load(Ordering::SeqCst) > before + 1000 * SLOT).then_some(()));

    let hold = Request::Hold {
        server: end(1),
        ues: vec![end(2)],
        processes: vec![],
    };
    let Answer::Held {
        dl_lead_slots,
        ul_lead_slots,
        ..
    } = hosts.ask(&hold)
    else {
        panic!("not held");
    };
    assert_eq!(dl_lead_slots, GNB_LEAD_SLOTS as f64);
    assert_eq!(
        ul_lead_slots,
        [UE_LEAD_SLOTS as f64 - ADVANCE as f64 / SLOT as f64]
    );

    let began = hosts.ask(&Request::Begin { utc_ns: 7 });
    assert_eq!(began, Answer::Began { slot_ns: 500_000 });
    // Each slot moves the gNB by a slot, and no further.
    let before = sent.load(Ordering::SeqCst);
    let answer = hosts.slot(&[(1, 1500), (2, 20)], &[(9, 84)]);
    let (dl, ul) = (vec![vec![1, 2]], vec![vec![9]]);
    assert_eq!(answer, Answer::Slot { dl, ul });
    let nothing = Answer::Slot {
        dl: vec![vec![]],
        ul: vec![vec![]],
    };
    for slots in 2..10 {
        assert_eq!(hosts.slot(&[], &[]), nothing);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(sent.load(Ordering::SeqCst), before + slots * SLOT);
    }
    let state = hosts.state();
    assert_eq!((state.slot, state.utc_ns), (9, Some(7 + 9 * 500_000)));
    assert_eq!(state.account.sent_packets, [2, 1]);
    assert_eq!(state.account.arrived_packets, [2, 1]);
    assert_eq!(state.account.late_packets, 0);

    // Who meets the radio before a slot has it stand still until the next meeting.
    let mut channel_client = Client::connect(socket);
    let Answer::State(met) = channel_client.ask(&Request::Meet { slot: 9 }) else {
        panic!("no state");
    };
    assert_eq!(met.slot, 9);
    let (told, tells) = channel();
    let waiting = std::thread::spawn(move || {
        for _ in 0..3 {
            told.send(hosts.slot(&[], &[])).unwrap();
        }
        hosts
    });
    let patience = Duration::from_millis(200);
    assert!(tells.recv_timeout(patience).is_err());
    let Answer::State(met) = channel_client.ask(&Request::Meet { slot: 11 }) else {
        panic!("no state");
    };
    assert_eq!(met.slot, 11);
    assert_eq!(tells.iter().take(2).count(), 2);
    assert!(tells.recv_timeout(patience).is_err());
    drop(channel_client);
    tells.recv_timeout(PATIENCE).unwrap();
    let mut hosts = waiting.join().unwrap();

    // A modem that ends is named.
    kept.shutdown(Shutdown::Both).unwrap();
    let reason = eventually(|| match hosts.slot(&[], &[]) {
        Answer::Failed { reason } => Some(reason),
        _ => None,
    });
    assert!(reason.contains("the UE"), "{reason}");
}
