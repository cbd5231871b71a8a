// SPDX-License-Identifier: Apache-2.0
//! Kernel modules: loads those of the user, and sets and reads the parameters of all.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::libc;

/// Values by the names of module and parameter.
pub type Parameters = BTreeMap<String, BTreeMap<String, String>>;

const MODULES: &str = "/sys/module";
/// The list of loaded modules; the newest comes first.
const LOADED: &str = "/proc/modules";
const LOG_BYTES: usize = 1 << 16;
/// SYSLOG_ACTION_READ_ALL of syslog(2), for which libc has no name.
const READ_ALL: libc::c_int = 3;

/// Loads the modules in the files at `paths`, each with its parameters; gives their names.
///
/// # Errors
/// The kernel refuses one, for example since it was built for another kernel, or does not know a parameter.
pub fn load(paths: &[PathBuf], parameters: &Parameters) -> Result<Vec<String>> {
    let load = |path: &PathBuf| {
        load_one(path, parameters).with_context(|| format!("modules: {}", path.display()))
    };
    paths.iter().map(load).collect()
}

fn load_one(path: &Path, parameters: &Parameters) -> Result<String> {
    let file = File::open(path)?;
    let expected = usual_name(path);
    let said_before = kernel_log()?.len();
    let outcome = finit_module(
        &file,
        &as_text(parameters.get(&expected))?,
        ModuleInitFlags::empty(),
    );
    let said: Vec<String> = kernel_log()?.into_iter().skip(said_before).collect();
    if let Err(error) = outcome {
        let fix = match error {
            Errno::EEXIST => {
                "The kernel has one of this name already. Rename the module and what it registers"
            }
            _ => "Build it for this kernel: setup/virtual-module SOURCE OUTPUT.ko",
        };
        bail!(
            "the kernel refuses it: {}. {fix}.",
            said.last().map_or(error.desc(), String::as_str)
        );
    }
    // The kernel loads a module despite a parameter that it does not know, and only logs a line.
    let unknown = said.iter().find(|line| line.contains("unknown parameter"));
    ensure!(unknown.is_none(), "{}", unknown.map_or("", String::as_str));
    let loaded = fs::read_to_string(LOADED).context(LOADED)?;
    let name = loaded.split_whitespace().next().context(LOADED)?;
    ensure!(
        name == expected || !parameters.contains_key(name),
        "the file holds the module {name}. Call it {name}.ko, so that its parameters are known when it is loaded."
    );
    Ok(name.to_owned())
}

/// Parameters as the kernel takes them with a module.
fn as_text(parameters: Option<&BTreeMap<String, String>>) -> Result<CString> {
    let each = parameters.into_iter().flatten();
    let each: Vec<String> = each
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    CString::new(each.join(" ")).context("parameters")
}

/// The module's name according to its file's name, which Kbuild derives from it.
fn usual_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().replace('-', "_")
}

/// The kernel's messages, without level and time.
fn kernel_log() -> Result<Vec<String>> {
    let mut bytes = vec![0_u8; LOG_BYTES];
    // SAFETY: the kernel writes no more than the buffer's length.
    let length = unsafe {
        libc::klogctl(
            READ_ALL,
            bytes.as_mut_ptr().cast(),
            bytes.len() as libc::c_int,
        )
    };
    bytes.truncate(Errno::result(length).context("the kernel's messages")? as usize);
    let text = String::from_utf8_lossy(&bytes);
    let message = |line: &str| {
        let line = line.split_once('>').map_or(line, |(_, rest)| rest);
        let timed = line.starts_with('[');
        let rest = line.split_once("] ").filter(|_| timed);
        rest.map_or(line, |(_, rest)| rest).to_owned()
    };
    Ok(text.lines().map(message).collect())
}

/// Sets the parameters of modules that are a part of the kernel; those that were `loaded` have theirs.
pub fn set_parameters(parameters: &Parameters, loaded: &[String]) -> Result<()> {
    let built_in = parameters
        .iter()
        .filter(|(module, _)| !loaded.contains(module));
    for (module, values) in built_in {
        for (name, value) in values {
            let file = PathBuf::from_iter([MODULES, module, "parameters", name]);
            fs::write(&file, value)
                .with_context(|| format!("module parameter {module}.{name} = {value}"))?;
        }
    }
    Ok(())
}

/// All parameters of some modules, as reported by the kernel.
pub fn all_parameters<'a>(modules: impl Iterator<Item = &'a String>) -> Result<Parameters> {
    let parameters = |module: &String| -> Result<_> {
        let folder = PathBuf::from_iter([MODULES, module, "parameters"]);
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        let values = entries.map(|entry| {
            let entry = entry?;
            let value = fs::read_to_string(entry.path())?;
            Ok((
                entry.file_name().to_string_lossy().into_owned(),
                value.trim().to_owned(),
            ))
        });
        Ok((module.clone(), values.collect::<std::io::Result<_>>()?))
    };
    modules.map(parameters).collect()
}
