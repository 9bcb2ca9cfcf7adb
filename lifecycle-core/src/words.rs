//! How does an enum of ours read and write its stable text and its stable number?

use core::fmt;

/// A text that is not one of the words of the enum it was read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What was expected, in words: "status", "sighting", …
    pub expected: &'static str,
    /// The words that are accepted.
    pub words: &'static [&'static str],
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a {}; one of", self.expected)?;
        for (position, word) in self.words.iter().enumerate() {
            f.write_str(if position == 0 { " " } else { ", " })?;
            f.write_str(word)?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownWord {}

/// Declares an enum whose members have a stable word and a stable number.
///
/// Numbers count from 1 in the order written, so that 0 stays free for "not set" on a numbered
/// wire. Members are appended, never reordered: a test pins words and numbers.
macro_rules! words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident ($expected:literal) {
            $($(#[$member_doc:meta])* $member:ident = $word:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$member_doc])* $member,)+
        }

        impl $name {
            /// Every member, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$member,)+];

            /// The words of [`Self::ALL`], in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// Returns the stable text form.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$member => $word,)+
                }
            }

            /// Returns the stable number: 1 for the first member, 0 for none.
            #[must_use]
            pub const fn tag(self) -> u8 {
                (self as u8).wrapping_add(1)
            }

            /// Returns the member that has this number.
            #[must_use]
            pub const fn from_tag(tag: u8) -> Option<Self> {
                $(if tag == Self::$member as u8 + 1 {
                    return Some(Self::$member);
                })+
                None
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.word())
            }
        }

        impl core::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                match text {
                    $($word => Ok(Self::$member),)+
                    _ => Err($crate::UnknownWord { expected: $expected, words: Self::WORDS }),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::word(deserializer, $expected, Self::WORDS)
            }
        }

        #[cfg(feature = "proptest")]
        impl proptest::arbitrary::Arbitrary for $name {
            type Parameters = ();
            type Strategy = proptest::sample::Select<Self>;

            fn arbitrary_with((): ()) -> Self::Strategy {
                proptest::sample::select(Self::ALL)
            }
        }
    };
}

pub(crate) use words;
