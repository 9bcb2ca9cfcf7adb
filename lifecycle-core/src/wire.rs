//! How are words and instants read through serde?

use core::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::Timestamp;

/// Reads one word of an enum of ours; the error names the words that are accepted.
pub(crate) fn word<'de, D, T>(
    deserializer: D,
    expected: &'static str,
    words: &'static [&'static str],
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
{
    deserializer.deserialize_str(Word {
        expected,
        words,
        member: PhantomData,
    })
}

struct Word<T> {
    expected: &'static str,
    words: &'static [&'static str],
    member: PhantomData<T>,
}

impl<T: FromStr> de::Visitor<'_> for Word<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {}", self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse()
            .map_err(|_| E::unknown_variant(text, self.words))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.as_millis())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    /// Reads whole milliseconds since the epoch; none before it.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let millis = i64::deserialize(deserializer)?;
        if millis < 0 {
            return Err(de::Error::invalid_value(
                de::Unexpected::Signed(millis),
                &"a time of 0 or later",
            ));
        }
        Ok(Self::from_millis(millis))
    }
}
