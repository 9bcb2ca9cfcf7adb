//! How is one field of a JSON object read, or refused with a reason?

use serde_json::{Map, Value};

use super::words::Word;

/// An object, and the name under which complaints about it are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    name: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The line itself: fields nobody knows are ignored.
    pub(crate) fn top(map: &'a Map<String, Value>) -> Self {
        Self { name: "line", map }
    }

    /// An object that has no other fields than the known ones.
    pub(crate) fn closed(name: &'a str, value: &'a Value, known: &[&str]) -> Result<Self, String> {
        let Some(map) = value.as_object() else {
            return Err(format!("{name}: not an object"));
        };
        for field in map.keys() {
            if !known.contains(&field.as_str()) {
                return Err(format!("{name}: unknown field {field:?}"));
            }
        }
        Ok(Self { name, map })
    }

    /// The value of a field; null is absent.
    pub(crate) fn value(self, field: &str) -> Option<&'a Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    /// A whole number from 0 to the largest `i64`.
    pub(crate) fn number(self, field: &str) -> Result<Option<i64>, String> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        match value.as_i64() {
            Some(number) if number >= 0 => Ok(Some(number)),
            Some(_) | None => Err(self.complaint(field, "not a whole number from 0 up")),
        }
    }

    /// A number that must be there.
    pub(crate) fn required_number(self, field: &str) -> Result<i64, String> {
        self.number(field)?
            .ok_or_else(|| self.complaint(field, "is required"))
    }

    /// Any text.
    pub(crate) fn text(self, field: &str) -> Result<Option<&'a str>, String> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        match value.as_str() {
            Some(text) => Ok(Some(text)),
            None => Err(self.complaint(field, "not a text")),
        }
    }

    /// One word of a closed list.
    pub(crate) fn word<W: Word>(self, field: &str) -> Result<Option<W>, String> {
        let Some(text) = self.text(field)? else {
            return Ok(None);
        };
        match W::parse(text) {
            Some(word) => Ok(Some(word)),
            None => Err(self.complaint(field, "unknown word")),
        }
    }

    /// A word that must be there.
    pub(crate) fn required_word<W: Word>(self, field: &str) -> Result<W, String> {
        self.word(field)?
            .ok_or_else(|| self.complaint(field, "is required"))
    }

    /// A sentence about what is wrong with a field.
    pub(crate) fn complaint(self, field: &str, what: &str) -> String {
        format!("{}.{field}: {what}", self.name)
    }
}
