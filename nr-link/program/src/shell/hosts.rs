// SPDX-License-Identifier: Apache-2.0
//! The two hosts of a shell: network namespaces, in a user namespace if the caller has no rights.

use std::fs::{self, File};
use std::net::Ipv4Addr;

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};

use crate::interface::Interface;
use crate::netns::{Namespace, Place};
use crate::session::{Places, Session};

/// Where the ends of the link are: the server's host is where we are.
#[derive(Debug)]
pub struct Hosts {
    ue: Namespace,
}

impl Hosts {
    /// A namespace for the UE beside the caller's; or, if the caller may not make devices, beside one that we move into.
    pub fn make() -> Result<Self> {
        let ue = match Namespace::create() {
            Ok(ue) => ue,
            Err(_) => {
                become_root_of_a_user_namespace()?;
                unshare(CloneFlags::CLONE_NEWNET).context("making a network namespace")?;
                set_loopback_up(Place::Here)?;
                Namespace::create()?
            }
        };
        set_loopback_up(Place::Made(&ue))?;
        Ok(Self { ue })
    }

    /// The host of the command.
    pub fn ue(&self) -> &Namespace {
        &self.ue
    }

    /// Where the devices are made.
    pub fn places(&self) -> Places<'_> {
        Places {
            core: Place::Here,
            ues: vec![Place::Made(&self.ue)],
        }
    }

    /// Gives the devices addresses of a network that the server's host does not have yet, and the UE its default route.
    /// Gives variables that tell commands.
    pub fn address(&self, session: &Session) -> Result<[(&'static str, String); 2]> {
        let _turn = turn_on_this_network()?;
        let network = free_network()?;
        let addresses = [[100, 64, network, 1], [100, 64, network, 2]];
        for (device, address) in session.devices().zip(addresses) {
            device.set_address(address)?;
        }
        for ue in session.devices().skip(1) {
            ue.set_default_route()?;
        }
        let [server, ue] = addresses.map(|address| Ipv4Addr::from(address).to_string());
        Ok([("NR_LINK_SERVER", server), ("NR_LINK_UE", ue)])
    }
}

/// The third octet of a network in 100.64.0.0/10 (RFC 6598, as Mahimahi uses it) of which this host has no address.
fn free_network() -> Result<u8> {
    let taken: Vec<[u8; 4]> = getifaddrs()
        .context("listing addresses")?
        .filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip().octets()))
        .collect();
    let free = |&network: &u8| taken.iter().all(|octets| octets[..3] != [100, 64, network]);
    match (0..=u8::MAX).find(free) {
        Some(network) => Ok(network),
        None => bail!("all networks of 100.64.0.0/16 are in use here; end other shells"),
    }
}

/// Held while a network is chosen and taken, since two shells that start at once would find the same one free. The lock is
/// on the network namespace itself, which is all that such shells have in common.
fn turn_on_this_network() -> Result<Flock<File>> {
    let namespace = File::open("/proc/self/ns/net").context("opening our network namespace")?;
    Flock::lock(namespace, FlockArg::LockExclusive)
        .map_err(|(_, error)| error)
        .context("locking our network namespace")
}

fn set_loopback_up(host: Place) -> Result<()> {
    host.inside(|| Interface::of("lo")?.set_up())
}

/// user_namespaces(7): what we may do there, we may do to what we make there.
fn become_root_of_a_user_namespace() -> Result<()> {
    let (uid, gid) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER).context(
        "without root, nr-link shell needs a user namespace, which this kernel does not give (sysctl \
         kernel.unprivileged_userns_clone, user.max_user_namespaces, \
         kernel.apparmor_restrict_unprivileged_userns); run it as root",
    )?;
    for (file, content) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), content)
            .with_context(|| format!("writing {file} of the user namespace"))?;
    }
    Ok(())
}
