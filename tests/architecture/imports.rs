//! Which modules of its crate does a file use?

use std::collections::BTreeSet;

/// Returns the first names after every `crate::`: modules, and what the root re-exports.
pub(crate) fn crate_names(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("crate::") {
        // `$crate::` of a macro counts where the macro is called.
        let is_path =
            !before.ends_with(|last: char| last == '$' || last == '_' || last.is_alphanumeric());
        if is_path {
            match after.strip_prefix('{') {
                Some(group) => names.extend(group_names(group)),
                None => names.extend(name(after)),
            }
        }
        rest = after;
    }
    names
}

/// Returns the first name of every member of a `{…}` whose opening brace was read.
fn group_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    let mut member = String::new();
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.extend(name(member.trim()));
                return names;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.extend(name(member.trim()));
                member.clear();
            }
            _ if depth == 0 => member.push(letter),
            _ => {}
        }
    }
    names
}

fn name(path: &str) -> Option<String> {
    let end = path
        .find(|letter: char| letter != '_' && !letter.is_alphanumeric())
        .unwrap_or(path.len());
    (end > 0).then(|| path[..end].to_owned())
}

#[test]
fn names_are_found_in_paths_and_nested_groups() {
    let code = "use crate::{\n a::{B, c::D},\n e::F, G,\n};\nuse crate::h;\nfn i() -> crate::j::K { $crate::l(); mycrate::m() }";
    let names: Vec<_> = crate_names(code).into_iter().collect();
    assert_eq!(names, ["G", "a", "e", "h", "j"]);
}
