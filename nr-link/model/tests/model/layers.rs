// SPDX-License-Identifier: Apache-2.0
//! The layers of the model: a module uses modules of its own layer or of lower ones, and no modules use each other
//! in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crate's top-level modules, from the highest layer to the lowest.
const LAYERS: [&[&str]; 7] = [
    &["link", "mac_pcap", "samples"],
    &["mac", "rlc", "rrc", "pdcp", "capacity", "path"],
    &["channel"],
    &["config", "scenario"],
    &["aqm", "radio", "yaml"],
    &[
        "correlated_process",
        "counters",
        "delays",
        "headers",
        "input_file",
        "packet",
        "radio_events",
        "random",
        "range",
    ],
    &["decimal", "ids", "problem", "time"],
];

/// The modules that each module uses, both as paths below the crate (`mac::cell`).
type Uses = BTreeMap<String, BTreeSet<String>>;

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| match path.is_dir() {
        true => source_files(&path),
        false => vec![path],
    });
    files.collect()
}

/// The text of each module, without comments and tests.
fn modules() -> BTreeMap<String, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let module = |file: PathBuf| {
        let name = file.strip_prefix(&source).unwrap().with_extension("");
        let name = name.to_str().unwrap().replace('/', "::");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        (name, code.collect::<Vec<_>>().join("\n"))
    };
    let all = source_files(&source).into_iter().map(module);
    all.filter(|(name, _)| name != "lib" && !name.ends_with("tests"))
        .collect()
}

/// Expands `a::{b, c::{d, e}}` to the paths in it.
fn expand(tree: &str) -> Vec<String> {
    let Some((prefix, rest)) = tree.split_once('{') else {
        return vec![tree.trim().to_owned()];
    };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                start = (at + 1).min(inner.len());
                if !part.is_empty() {
                    paths.extend(expand(&format!("{}{part}", prefix.trim())));
                }
            }
            _ => {}
        }
    }
    paths
}

/// The paths in a module's code that begin with `crate` or `super`: in `use` items and in expressions.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in ["crate::", "super::"] {
        for (at, _) in code.match_indices(root) {
            if code[..at].ends_with([':', '_']) {
                continue; // inside a longer path
            }
            let line = code[..at].rfind('\n').map_or(0, |end| end + 1);
            let before = code[line..at].trim();
            let end = match before.ends_with("use") {
                true => code[at..].find(';'),
                false => code[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')),
            };
            found.extend(expand(&code[at..at + end.unwrap_or(0)]));
        }
    }
    found
}

fn uses() -> Uses {
    let modules = modules();
    let resolve = |module: &str, path: &str| -> Option<String> {
        let mut base: Vec<&str> = module.split("::").collect();
        let mut steps = path.split("::").peekable();
        while let Some(root) = steps.next_if(|step| ["crate", "super"].contains(step)) {
            match root {
                "crate" => base.clear(),
                _ => drop(base.pop()),
            }
        }
        let mut target = None;
        for step in steps {
            base.push(step);
            let name = base.join("::");
            if modules.contains_key(&name) {
                target = Some(name);
            }
        }
        target
    };
    let of_module = |(name, code): (&String, &String)| {
        let targets = paths(code);
        let targets = targets.iter().filter_map(|path| resolve(name, path));
        (
            name.clone(),
            targets.filter(|target| target != name).collect(),
        )
    };
    modules.iter().map(of_module).collect()
}

fn layer(module: &str) -> usize {
    let top = module.split("::").next().unwrap();
    let of_layer = |layer: &&[&str]| layer.contains(&top);
    let found = LAYERS.iter().position(of_layer);
    found.unwrap_or_else(|| panic!("{top} is in no layer. Add it to LAYERS"))
}

#[test]
fn modules_use_their_own_layer_or_lower_ones() {
    let uses = uses();
    assert!(uses["mac::cell"].contains("radio::tbs"), "{uses:?}");
    for (module, targets) in &uses {
        for target in targets {
            assert!(
                layer(module) <= layer(target),
                "{module} uses {target}, of a higher layer"
            );
        }
    }
}

/// A module and the one that contains it may use each other: the outer one names the inner one's items.
#[test]
fn no_modules_use_each_other_in_a_circle() {
    let related = |a: &str, b: &str| {
        let inside = |outer: &str, inner: &str| inner.starts_with(&format!("{outer}::"));
        inside(a, b) || inside(b, a)
    };
    let mut uses = uses();
    for (module, targets) in &mut uses {
        targets.retain(|target| !related(module, target));
    }
    // Modules that use nothing more are removed until none is left, unless there is a circle.
    loop {
        let free: Vec<String> = uses
            .iter()
            .filter(|(_, targets)| targets.is_empty())
            .map(|(module, _)| module.clone())
            .collect();
        if free.is_empty() {
            break;
        }
        for module in &free {
            uses.remove(module);
            for targets in uses.values_mut() {
                targets.remove(module);
            }
        }
    }
    assert!(uses.is_empty(), "circles among: {uses:#?}");
}
