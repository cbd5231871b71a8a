// SPDX-License-Identifier: Apache-2.0
//! Resolution of the user's plan into a run: hosts by number, paths absolute, defaults filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nix::unistd::{getegid, geteuid};
use nr_link_model::{Link, Problem, ResolvedConfig, ResolvedLink, Violation};
use nr_link_virtual_plan::{Change, Flow, Host, Plan, Program, Run, Sockets, Transport};

use crate::plan_file::{ChangeEntry, Direction, FlowEntry, PlanFile, TransportName};

const FIRST_SENDING_PORT: u16 = 20_001;
const FIRST_LISTENING_PORT: u16 = 5201;
const UDP_HEADER_BYTES: u32 = 8;
/// Default time after the last flow's end: a flow or program that still runs then has failed.
const PATIENCE_S: f64 = 60.0;
const MOST_UES: usize = 64;
/// The values of the emulated testbed: the link is to limit a flow, not the host.
const SYSCTLS: [(&str, &str); 5] = [
    ("net.ipv4.tcp_wmem", "4096 16384 67108864"),
    ("net.ipv4.tcp_rmem", "4096 131072 67108864"),
    ("net.ipv4.tcp_no_metrics_save", "1"),
    ("net.ipv6.conf.all.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
];

/// A plan with everything that the run needs.
#[derive(Debug)]
pub struct Resolved {
    /// The run that the guest and the link perform, and the link.
    pub plan: Plan<ResolvedLink>,
    /// Seed of the kernel's randomness: the plan's, or the link's.
    pub seed: u64,
}

/// Completes the plan in the file at `path`, and checks it against the link.
///
/// # Errors
/// The link's configuration or scenario breaks a rule; the plan does not fit to them.
pub fn resolve(file: &PlanFile, path: &Path) -> Result<Resolved> {
    let folder = absolute(path)?;
    let folder = folder.parent().unwrap_or(Path::new("/"));
    let mut link = ResolvedLink::load(&folder.join(&file.link))?;
    let source = link.source()?;
    let config = &link.config;
    Link::<()>::new(config, source)?;
    let hosts = hosts(file, config, folder)?;
    let mut sysctls: BTreeMap<String, String> = SYSCTLS
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    sysctls.extend(file.sysctls.clone());
    let flows = (0..).zip(&file.flows);
    let flows: Vec<Flow> = flows
        .map(|(number, entry)| flow(number, entry, &hosts, config.mtu_bytes))
        .collect::<Result<_>>()?;
    check_ids(&flows)?;
    check_addresses(&hosts, &file.link)?;
    let last_s = flows.iter().map(|flow| flow.start_s + flow.duration_s);
    let last_s = last_s.fold(0.0, f64::max);
    let seed = file.seed.unwrap_or(config.seed);
    let run = Run {
        programs: programs(file, &hosts, folder)?,
        limit_s: file.limit_s.unwrap_or(last_s + PATIENCE_S),
        captured_bytes: file.capture.as_ref().map_or(0, |capture| capture.bytes),
        sockets: file.sockets.as_ref().map(|sockets| Sockets {
            interval_ns: (sockets.interval_ms * 1e6).round() as u64,
            ports: sockets.ports.clone(),
        }),
        cc_traces: file
            .cc_traces
            .iter()
            .map(|(name, path)| (name.clone(), folder.join(path)))
            .collect(),
        modules: modules("modules", &file.modules, folder)?,
        changes: changes(file, folder)?,
        module_parameters: file.module_parameters.clone(),
        sysctls,
        gro: config.gro,
        flows,
        hosts,
        samples: None,
        link_start: file.link_start.as_ref().map(|path| folder.join(path)),
        radio: file.radio.as_ref().map(|path| folder.join(path)),
        clock_step_ns: file.clock_step_ns,
    };
    let plan = Plan { link, run };
    Ok(Resolved { plan, seed })
}

/// The absolute paths of the modules' files, each of which must exist.
fn modules(key: &str, modules: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>> {
    let existing = |(number, module): (usize, &PathBuf)| {
        let path = folder.join(module);
        if path.is_file() {
            return Ok(path);
        }
        let rule = format!("there is no file {}", path.display());
        let fix = "Build it with setup/virtual-module SOURCE OUTPUT.ko";
        let problem = Violation::new(rule, fix).at_key(format!("{key}[{number}]"));
        Err(problem.into())
    };
    modules.iter().enumerate().map(existing).collect()
}

/// The changes on the hosts, with the absolute paths of their modules.
fn changes(file: &PlanFile, folder: &Path) -> Result<Vec<Change>> {
    let change = |(number, entry): (usize, &ChangeEntry)| {
        let key = format!("changes[{number}].modules");
        Ok(Change {
            at_s: entry.at_s,
            modules: modules(&key, &entry.modules, folder)?,
            module_parameters: entry.module_parameters.clone(),
            policy_parameters: entry.policy_parameters.clone(),
            cc: entry.cc.clone(),
        })
    };
    file.changes.iter().enumerate().map(change).collect()
}

/// The folder for reports.
pub fn output_folder(file: &PlanFile, plan: &Path) -> Result<PathBuf> {
    let plan = absolute(plan)?;
    Ok(plan.parent().unwrap_or(Path::new("/")).join(&file.output))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.display().to_string())
}

/// The server, which is host 0, and the UEs from 1 on, with their devices, addresses and output files.
fn hosts(file: &PlanFile, config: &ResolvedConfig, folder: &Path) -> Result<Vec<Host>> {
    let ues = config.ues.len();
    if ues > MOST_UES {
        let rule = format!("there are {ues} UEs, and at most {MOST_UES} in virtual time");
        return Err(Violation::new(rule, "Leave some out")
            .at_key("devices.ue")
            .or_in_file(&file.link)
            .into());
    }
    let mut hosts = vec![("server".to_owned(), "n6".to_owned(), file.server_address)];
    for (number, ue) in (1..).zip(&config.ues) {
        let name = match number {
            1 => "ue".to_owned(),
            number => format!("ue{number}"),
        };
        let address = ue.addresses.first().copied();
        let default = IpAddr::from(Ipv4Addr::new(10, 45, 0, 1 + number as u8));
        hosts.push((name, format!("ue{number}"), address.unwrap_or(default)));
    }
    let no_files = BTreeMap::new();
    let captures = file
        .capture
        .as_ref()
        .map_or(&no_files, |capture| &capture.files);
    let sockets = file
        .sockets
        .as_ref()
        .map_or(&no_files, |sockets| &sockets.files);
    for (key, files) in [("capture", captures), ("sockets", sockets)] {
        let paths: BTreeSet<_> = files.values().map(|path| folder.join(path)).collect();
        if paths.len() < files.len() {
            let rule = "two hosts have the same file";
            let problem = Violation::new(rule, "Give each host a file of its own");
            return Err(problem.at_key(format!("{key}.files")).into());
        }
        for name in files.keys() {
            let known = hosts.iter().map(|(name, ..)| name.as_str());
            host_number(name, known, &format!("{key}.files"))?;
        }
    }
    let file_of = |files: &BTreeMap<String, PathBuf>, name: &str| {
        files.get(name).map(|path| folder.join(path))
    };
    Ok(hosts
        .into_iter()
        .map(|(name, device, address)| Host {
            capture: file_of(captures, &name),
            sockets: file_of(sockets, &name),
            name,
            device,
            address,
        })
        .collect())
}

/// Checks that each flow has an id of its own without `/`: a report's file is named after it.
fn check_ids(flows: &[Flow]) -> Result<()> {
    let mut known = BTreeSet::new();
    for (number, flow) in flows.iter().enumerate() {
        if flow.id.contains('/') || !known.insert(&flow.id) {
            let rule = format!("{} is another flow's id, or has a /", flow.id);
            let problem = Violation::new(rule, "Give each flow an id of its own");
            return Err(problem.at_key(format!("flows[{number}].id")).into());
        }
    }
    Ok(())
}

/// Checks that each host has an address of its own: the link finds a packet's host by it.
fn check_addresses(hosts: &[Host], link: &Path) -> Result<()> {
    let mut known = BTreeSet::new();
    for host in hosts {
        if !known.insert(host.address) {
            let rule = format!(
                "{} has the address of another host, {}",
                host.name, host.address
            );
            let fix = "Change server_address of the plan, or addresses of the link's UEs";
            return Err(Violation::new(rule, fix)
                .at_key("server_address")
                .or_in_file(link)
                .into());
        }
    }
    Ok(())
}

/// The number of the host called `name`; a problem at `key` of the plan if there is none.
fn host_number<'a>(
    name: &str,
    hosts: impl Iterator<Item = &'a str> + Clone,
    key: &str,
) -> Result<usize, Problem> {
    hosts.clone().position(|host| host == name).ok_or_else(|| {
        let known: Vec<_> = hosts.collect();
        let fix = format!("Choose one of: {}", known.join(", "));
        Violation::new(format!("the link has no host {name}"), fix).at_key(key)
    })
}

/// The flow of an entry of the plan; `number` determines the defaults of its id and ports.
fn flow(number: u16, entry: &FlowEntry, hosts: &[Host], mtu_bytes: u32) -> Result<Flow> {
    if !(1..hosts.len()).contains(&entry.ue) {
        let (ue, ues) = (entry.ue, hosts.len() - 1);
        let rule = format!("{ue} is not between 1 and {ues}, the link's number of UEs");
        let key = format!("flows[{number}].ue");
        let problem = Violation::new(rule, "Name another, or add UEs to the link's configuration");
        return Err(problem.at_key(key).into());
    }
    let (sender, receiver) = match entry.direction {
        Direction::Dl => (0, entry.ue),
        Direction::Ul => (entry.ue, 0),
    };
    let port = |named: Option<u16>, first: u16| named.unwrap_or(first.saturating_add(number));
    Ok(Flow {
        id: entry.id.clone().unwrap_or(format!("f{number}")),
        sender,
        receiver,
        sending_port: port(entry.sending_port, FIRST_SENDING_PORT),
        listening_port: port(entry.listening_port, FIRST_LISTENING_PORT),
        start_s: entry.start_s,
        duration_s: entry.duration_s,
        transport: match entry.transport {
            TransportName::Tcp => Transport::Tcp {
                cc: entry.cc.clone().unwrap_or_default(),
                volume_bytes: entry.volume_bytes,
                mss_bytes: entry.mss_bytes,
            },
            TransportName::Udp => Transport::Udp {
                rate_bps: entry.rate_bps.unwrap_or_default(),
                length_bytes: entry.length_bytes.unwrap_or_else(|| {
                    let ip_header_bytes = if hosts[sender].address.is_ipv6() {
                        40
                    } else {
                        20
                    };
                    mtu_bytes - ip_header_bytes - UDP_HEADER_BYTES
                }),
            },
        },
    })
}

fn programs(file: &PlanFile, hosts: &[Host], folder: &Path) -> Result<Vec<Program>> {
    let entries = file.programs.iter().enumerate();
    let program = |(number, entry): (usize, &crate::plan_file::ProgramEntry)| {
        let names = hosts.iter().map(|host| host.name.as_str());
        Ok(Program {
            name: entry.name.clone().unwrap_or(format!("p{number}")),
            host: host_number(&entry.host, names, &format!("programs[{number}].host"))?,
            command: entry.command.clone(),
            start_s: entry.start_s,
            service: entry.service || entry.policy_of.is_some(),
            policy_of: entry.policy_of.clone(),
            output: entry.output.as_ref().map(|path| folder.join(path)),
            takes_changes: entry.policy_of.as_ref().is_some_and(|cc| changed(file, cc)),
            streams: false,
            environment: None,
            folder: folder.to_owned(),
            // To whom the files of the host belong that the program is to read and write.
            user: entry
                .unprivileged
                .then(|| (geteuid().as_raw(), getegid().as_raw())),
        })
    };
    entries.map(program).collect()
}

/// Whether parameters of a congestion control's policy change.
fn changed(file: &PlanFile, cc: &str) -> bool {
    let mut changes = file.changes.iter();
    changes.any(|change| change.policy_parameters.contains_key(cc))
}
