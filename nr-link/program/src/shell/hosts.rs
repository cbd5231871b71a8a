// SPDX-License-Identifier: Apache-2.0
//! The two hosts of a shell: network namespaces, within a user namespace if the caller is not
//! privileged.

use std::fs::{self, File};
use std::net::Ipv4Addr;

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};

use crate::interface::Interface;
use crate::netns::{Namespace, NamespaceRef};
use crate::session::{DeviceNamespaces, Session};

/// The hosts at both ends of the link; the server's host is the current namespace.
#[derive(Debug)]
pub struct Hosts {
    ue: Namespace,
}

impl Hosts {
    /// Makes a namespace for the UE beside the caller's. If the caller may not make devices, both
    /// are new, in a new user namespace, and the process moves into the server's.
    pub fn make() -> Result<Self> {
        let ue = match Namespace::create() {
            Ok(ue) => ue,
            Err(_) => {
                become_root_of_a_user_namespace()?;
                unshare(CloneFlags::CLONE_NEWNET).context("making a network namespace")?;
                set_loopback_up(NamespaceRef::Current)?;
                Namespace::create()?
            }
        };
        set_loopback_up(NamespaceRef::Owned(&ue))?;
        Ok(Self { ue })
    }

    /// Returns the host of the command.
    pub fn ue(&self) -> &Namespace {
        &self.ue
    }

    /// Returns the namespace of each device.
    pub fn namespaces(&self) -> DeviceNamespaces<'_> {
        DeviceNamespaces {
            core: NamespaceRef::Current,
            ues: vec![NamespaceRef::Owned(&self.ue)],
        }
    }

    /// Assigns addresses of an unused network to the devices, and a default route to the UE.
    /// Returns environment variables with the addresses.
    pub fn address(&self, session: &Session) -> Result<[(&'static str, String); 2]> {
        let _lock = lock_network_choice()?;
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

/// Returns the third octet of a network in 100.64.0.0/10 (RFC 6598; Mahimahi uses it too) in which
/// this host has no address.
fn free_network() -> Result<u8> {
    let used: Vec<[u8; 4]> = getifaddrs()
        .context("listing addresses")?
        .filter_map(|interface| Some(interface.address?.as_sockaddr_in()?.ip().octets()))
        .collect();
    let free = |&network: &u8| used.iter().all(|octets| octets[..3] != [100, 64, network]);
    match (0..=u8::MAX).find(free) {
        Some(network) => Ok(network),
        None => bail!("all networks of 100.64.0.0/16 are in use here; end other shells"),
    }
}

/// Takes the lock for choosing a network, since two shells that start at the same time would find
/// the same one unused. The lock is on the network namespace, which is all that such shells share.
fn lock_network_choice() -> Result<Flock<File>> {
    let namespace = File::open("/proc/self/ns/net").context("opening our network namespace")?;
    Flock::lock(namespace, FlockArg::LockExclusive)
        .map_err(|(_, error)| error)
        .context("locking our network namespace")
}

fn set_loopback_up(host: NamespaceRef) -> Result<()> {
    host.inside(|| Interface::of("lo")?.set_up())
}

/// Moves this process into a new user namespace, in which it has all capabilities over the
/// namespaces that it makes (user_namespaces(7)).
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
