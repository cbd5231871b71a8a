// SPDX-License-Identifier: Apache-2.0
//! One run of the kernel: started, watched, and never left behind.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::signalfd::SignalFd;
use nr_link_model::ResolvedLink;
use nr_link_virtual_plan::{
    CLOCK_VARIABLE, LIBRARY_VARIABLE, PLAN_VARIABLE, Plan, RADIO, REPORT_VARIABLE, Report,
    SEED_VARIABLE, STREAMS,
};

use crate::confine;
use crate::failed;
use crate::own_core::OwnCore;
use crate::plan_file::PlanFile;
use crate::resolve::Resolved;
use crate::testbed_files::TestbedFiles;
use crate::watch::{Watch, cpu_time};

/// Numbers of the descriptors that the kernel gets: its command line names one, and must always be the same.
const PLAN: RawFd = 100;
const REPORT: RawFd = 101;
const CLOCK: RawFd = 102;
const GUEST: RawFd = 103;

/// The beginning of the kernel's panic when nothing is left to free (mm/oom_kill.c).
const OUT_OF_MEMORY: &str = "System is deadlocked on memory";

/// Lines of the kernel's output that are kept for a message.
const KEPT_LINES: usize = 12;

/// The outcome of a run.
#[derive(Debug)]
pub struct Ended {
    /// The guest's reports, in order.
    pub reports: Vec<Report>,
    /// Wall-clock time.
    pub wall: Duration,
    /// CPU time of the kernel and its processes.
    pub cpu: Duration,
    /// The reason why it ended before the traffic did, if it did.
    failure: Option<String>,
}

impl Ended {
    /// Gives the outcome of a run whose traffic ended.
    ///
    /// # Errors
    /// The kernel, the guest or a program failed.
    pub fn checked(self) -> Result<Self> {
        match self.failure {
            Some(message) => Err(failed(message)),
            None => Ok(self),
        }
    }
}

/// Runs the kernel until it ends.
///
/// # Errors
/// It cannot be started; a virtual second took too much CPU; one of `signals` came.
pub fn run(
    files: &TestbedFiles,
    file: &PlanFile,
    resolved: &Resolved,
    signals: Option<&SignalFd>,
) -> Result<Ended> {
    let began = Instant::now();
    confine::forbid_tracing().context("PR_SET_DUMPABLE")?;
    let mut passed = Passed::open(files, &resolved.plan)?;
    let core = OwnCore::take();
    let mut command = command(files, file, resolved.seed);
    passed.give(&mut command, core.as_ref());
    let mut child = command
        .spawn()
        .with_context(|| files.kernel.display().to_string())?;
    passed.radio = None; // its only end is now the kernel's, whose end it is to notice
    let output = [
        follow(child.stdout.take().map(OwnedFd::from)),
        follow(child.stderr.take().map(OwnedFd::from)),
    ];
    let watch = Watch::over(&child, &passed.clock, file.cpu_limit_s, signals);
    if watch.is_err() {
        child.kill().context("ending the kernel")?;
    }
    let watched = watch.and_then(|watch| watch.wait(&mut child));
    let cpu = cpu_time(&child);
    let status = child.wait().context("waiting for the kernel")?;
    let printed = output.map(|thread| thread.join().unwrap_or_default());
    watched?;
    let reports = passed.reports()?;
    Ok(Ended {
        failure: failure(&reports, &printed.concat(), status, file.memory_mb),
        reports,
        wall: began.elapsed(),
        cpu,
    })
}

/// The descriptors that the kernel's process gets.
struct Passed {
    plan: File,
    report: File,
    clock: File,
    guest: File,
    /// The connection to a radio in the model's place.
    radio: Option<UnixStream>,
    /// This process's standard streams, if a program has them.
    streams: Vec<OwnedFd>,
}

impl Passed {
    fn open(files: &TestbedFiles, plan: &Plan<ResolvedLink>) -> Result<Self> {
        let mut written = memory_file("plan")?;
        ciborium::into_writer(plan, BufWriter::new(&written)).context("plan")?;
        written.rewind().context("plan")?;
        let clock = memory_file("clock")?;
        clock.set_len(size_of::<u64>() as u64).context("clock")?;
        let mut programs = plan.run.programs.iter();
        Ok(Self {
            plan: written,
            report: memory_file("report")?,
            clock,
            guest: File::open(&files.guest).with_context(|| files.guest.display().to_string())?,
            radio: plan.run.radio.as_deref().map(connect).transpose()?,
            streams: match programs.any(|program| program.streams) {
                true => own_streams()?,
                false => Vec::new(),
            },
        })
    }

    /// Has the command's process begin with these descriptors, and with a core of its own.
    fn give(&self, command: &mut Command, core: Option<&OwnCore>) {
        let files = [&self.plan, &self.report, &self.clock, &self.guest].map(AsRawFd::as_raw_fd);
        let streams = self.streams.iter().map(AsRawFd::as_raw_fd);
        let numbers = [PLAN, REPORT, CLOCK, GUEST].into_iter().chain(STREAMS);
        let radio = self.radio.iter().map(|radio| (radio.as_raw_fd(), RADIO));
        let passed = files.into_iter().chain(streams).zip(numbers);
        let passed: Vec<_> = passed.chain(radio).collect();
        let own = std::process::id();
        let keep = core.map(OwnCore::keep);
        // SAFETY: between fork and exec only the kernel is called.
        unsafe {
            command.pre_exec(move || {
                if let Some(keep) = &keep {
                    keep();
                }
                prepare(own, &passed)?;
                // Where the machine has no filters, ccu has said so (ccu.host.contain).
                let _ = confine::refuse_sockets();
                Ok(())
            });
        }
    }

    fn reports(mut self) -> Result<Vec<Report>> {
        self.report.rewind().context("report")?;
        let text = io::read_to_string(self.report).context("report")?;
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().context("report")
    }
}

/// Says why not all traffic of the run ended, unless it did.
fn failure(
    reports: &[Report],
    printed: &[String],
    status: ExitStatus,
    memory_mb: u64,
) -> Option<String> {
    let mut failures = reports.iter().filter_map(|report| match report {
        Report::Failed { reason } => Some(reason),
        _ => None,
    });
    let stopped = |report: &Report| matches!(report, Report::TrafficStopped { .. });
    if let Some(reason) = failures.next() {
        Some(reason.clone())
    } else if printed.iter().any(|line| line.contains(OUT_OF_MEMORY)) {
        Some(format!(
            "memory_mb: the kernel needed more memory than its {memory_mb} MB. Set a higher value in the plan, or send \
             less: fewer flows, smaller buffers."
        ))
    } else if !status.success() || !reports.iter().any(stopped) {
        Some(format!(
            "the kernel ended with {status} before the traffic did. It printed:\n  {}",
            printed.join("\n  ")
        ))
    } else {
        None
    }
}

/// The kernel's command and its environment.
fn command(files: &TestbedFiles, file: &PlanFile, seed: u64) -> Command {
    let mut command = Command::new(&files.kernel);
    command
        .args(arguments(file))
        .env_clear()
        .env(PLAN_VARIABLE, format!("/proc/self/fd/{PLAN}"))
        .env(REPORT_VARIABLE, REPORT.to_string())
        .env(CLOCK_VARIABLE, CLOCK.to_string())
        .env(LIBRARY_VARIABLE, &files.library)
        .env(SEED_VARIABLE, seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The kernel's command line. It goes into the kernel's randomness: nothing in it may depend on folder or user.
fn arguments(file: &PlanFile) -> Vec<String> {
    let fixed = [
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro", // the guest mounts it again, without access times
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "loglevel=1",
        "panic=-1",
        "uml_dir=/proc/self/", // exists, and takes no files: the kernel wants to write some there
        "thash_entries=1024",
        "time-travel=inf-cpu",
    ];
    let mut arguments: Vec<String> = fixed.map(str::to_owned).into();
    arguments.push(format!("mem={}M", file.memory_mb));
    arguments.push(format!("init=/proc/self/fd/{GUEST}"));
    arguments.push(format!("time-travel-start={}", file.start_utc_ns));
    arguments
}

fn connect(radio: &Path) -> Result<UnixStream> {
    UnixStream::connect(radio).map_err(|error| {
        let path = radio.display();
        failed(format!(
            "{path}: the radio does not answer ({error}). Start nr-link radio."
        ))
    })
}

/// Copies of the standard streams: the kernel's own are others.
fn own_streams() -> Result<Vec<OwnedFd>> {
    let copy = |stream: BorrowedFd| stream.try_clone_to_owned();
    let (input, output, error) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [input.as_fd(), output.as_fd(), error.as_fd()].map(copy);
    let streams: io::Result<_> = streams.into_iter().collect();
    streams.context("standard streams")
}

fn memory_file(name: &str) -> Result<File> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC).context("memfd_create")?;
    Ok(file.into())
}

/// In the kernel's process, before it is the kernel: it dies with us, and has its descriptors.
fn prepare(parent: u32, passed: &[(RawFd, RawFd)]) -> io::Result<()> {
    // SAFETY: changes only this process, which is about to be another program.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The kernel's memory begins after its heap. Containers may forbid this, and packets do not depend on it.
        libc::personality(libc::ADDR_NO_RANDOMIZE as _);
        if libc::getppid() as u32 != parent {
            libc::_exit(1); // the parent ended before it could be reported
        }
        for &(from, to) in passed {
            if libc::dup2(from, to) < 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// Passes on what the kernel and its programs print, line by line; gives the last lines at the end.
fn follow(output: Option<OwnedFd>) -> JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let mut kept: Vec<String> = Vec::new();
        let lines = output.map(|output| BufReader::new(File::from(output)).split(b'\n'));
        for line in lines.into_iter().flatten().map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            let _ = writeln!(io::stderr(), "{line}");
            if kept.len() == KEPT_LINES {
                kept.remove(0);
            }
            kept.push(line);
        }
        kept
    })
}
