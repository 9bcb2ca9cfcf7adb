//! What does a file of the AWS tools say of a profile?

use std::collections::BTreeMap;

/// The settings of one profile, their names in lower case.
pub(super) type Settings = BTreeMap<String, String>;

/// Reads the settings of a section; the first of a repeated setting is overridden by the last.
pub(super) fn section(text: &str, is_section: impl Fn(&str) -> bool) -> Settings {
    let mut settings = Settings::new();
    let mut inside = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An indented line belongs to the setting before it, which is none that is read here.
        if line.starts_with([' ', '\t', '#', ';']) || line.trim().is_empty() {
            continue;
        }
        if let Some(heading) = line.strip_prefix('[') {
            let name = heading.split(']').next().unwrap_or_default();
            inside = is_section(name.trim());
        } else if let (true, Some((name, value))) = (inside, line.split_once('=')) {
            let value = without_comment(value).trim();
            settings.insert(name.trim().to_lowercase(), value.to_owned());
        }
    }
    settings.retain(|_, value| !value.is_empty());
    settings
}

fn without_comment(value: &str) -> &str {
    let comment = [" #", " ;", "\t#", "\t;"];
    let end = comment.iter().filter_map(|mark| value.find(mark)).min();
    end.map_or(value, |end| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_section_is_read_as_the_tools_read_it() {
        let text = "# c\n[default]\naws_access_key_id=A\n[ work ]\nAWS_Access_Key_Id = B=/+ # mine\n\
                    s3 =\n  aws_access_key_id = nested\nregion = eu ; there\n[other]\nregion=x\n";
        let settings = section(text, |name| name == "work");
        let read: Vec<_> = settings
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(read, [("aws_access_key_id", "B=/+"), ("region", "eu")]);
        assert!(section(text, |name| name == "absent").is_empty());
        assert!(section("", |_| true).is_empty());
    }
}
