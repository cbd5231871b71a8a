// SPDX-License-Identifier: Apache-2.0
//! The hosts: network namespaces with a device of the link each.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, setns, unshare};
use nr_link_virtual_plan::{GUEST_DEVICE, Host, Report, Run};

use crate::clock;
use crate::modules::{self, Parameters};
use crate::socket;

const OWN_NAMESPACE: &str = "/proc/self/ns/net";
/// The limit for all hosts together, in pages: never reached. With little memory the kernel's own would be.
const TCP_MEMORY: (&str, &str) = ("net.ipv4.tcp_mem", "4194304 4194304 4194304");

/// The packets that the kernel queues of those that a link delivers at one instant: all, as computing takes no time.
const BACKLOG: (&str, &str) = ("net.core.netdev_max_backlog", "2147483647");

/// The kernel takes an IPv6 address into use in the background, which is at rest when any time passes.
const DUPLICATE_DETECTION: Duration = Duration::from_millis(1);

/// All hosts by number, and what the kernel was set to.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<(File, IpAddr)>,
    sysctls: BTreeMap<String, String>,
    modules: Vec<String>,
    module_parameters: Parameters,
}

impl Hosts {
    /// Makes and sets up all hosts of the run.
    pub fn make(run: &Run) -> Result<Self> {
        set_sysctl(TCP_MEMORY.0, TCP_MEMORY.1)?;
        set_sysctl(BACKLOG.0, BACKLOG.1)?;
        let modules = modules::load(&run.modules, &run.module_parameters)?;
        modules::set_parameters(&run.module_parameters, &modules)?;
        clock::wait_for_whole_period()?; // the first host's device starts the link
        let hosts = (0..).zip(&run.hosts).map(|(number, host)| {
            let namespace =
                make_host(number, host, run).with_context(|| format!("host {}", host.name))?;
            Ok((namespace, host.address))
        });
        let hosts: Vec<(File, IpAddr)> = hosts.collect::<Result<_>>()?;
        if hosts.iter().any(|(_, address)| address.is_ipv6()) {
            std::thread::sleep(DUPLICATE_DETECTION);
        }
        Ok(Self {
            hosts,
            sysctls: run.sysctls.clone(),
            module_parameters: modules::all_parameters(run.module_parameters.keys())?,
            modules,
        })
    }

    /// The report of what the kernel was set to.
    pub fn ready(&self) -> Result<Report> {
        Ok(Report::Ready {
            sysctls: self.sysctls.clone(),
            modules: self.modules.clone(),
            module_parameters: self.module_parameters.clone(),
        })
    }

    /// This thread moves to a host.
    pub fn enter(&self, number: usize) -> Result<()> {
        setns(&self.hosts[number].0, CloneFlags::CLONE_NEWNET).context("entering a host")
    }

    /// A host's network namespace.
    pub fn namespace(&self, number: usize) -> std::os::fd::BorrowedFd<'_> {
        self.hosts[number].0.as_fd()
    }

    /// A host's address.
    pub fn address(&self, number: usize) -> IpAddr {
        self.hosts[number].1
    }
}

fn make_host(number: usize, host: &Host, run: &Run) -> Result<File> {
    unshare(CloneFlags::CLONE_NEWNET).context("making a network namespace")?;
    for (key, value) in &run.sysctls {
        set_sysctl(key, value)?;
    }
    socket::bring_up("lo")?;
    fs::write(GUEST_DEVICE, number.to_string()).context(GUEST_DEVICE)?;
    if !run.gro {
        socket::switch_gro_off(&host.device)?;
    }
    socket::set_address(&host.device, host.address)?;
    socket::bring_up(&host.device)?;
    socket::set_default_route(&host.device, host.address)?;
    File::open(OWN_NAMESPACE).context(OWN_NAMESPACE)
}

fn set_sysctl(key: &str, value: &str) -> Result<()> {
    let file = PathBuf::from("/proc/sys").join(key.replace('.', "/"));
    let set = || {
        fs::write(&file, value)?;
        fs::read_to_string(&file)
    };
    let found = set().with_context(|| format!("sysctl {key} = {value}"))?;
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    ensure!(
        words(&found) == words(value),
        "sysctl {key} is {} after {value} was written",
        found.trim()
    );
    Ok(())
}
