//! Does every enum keep its words and numbers?
//!
//! They are stored and sent, so they are only ever appended: a changed or missing line of the
//! snapshot breaks rows and peers that hold the old one.

use lifecycle_core::{
    ActualPower, Cause, Compute, ComputeLost, DecisionKind, Delivery, Desired, Effect, EffectClass,
    Effects, Force, Ground, LateArrival, Law, Lint, Orphan, Phase, Policy, Power, Proof,
    Quarantine, Refusal, Request, RevokeOnComputeLost, Rule, SeenPower, Sighting, Source, Status,
    UnknownWord, Volume, VolumeAfterQuarantine,
};

/// Calls a macro with every enum that has words and numbers.
macro_rules! for_every_enum {
    ($call:ident) => {
        $call!(
            Status,
            Sighting,
            Volume,
            Quarantine,
            Compute,
            Force,
            Desired,
            Power,
            SeenPower,
            Proof,
            Cause,
            Source,
            Request,
            Refusal,
            ComputeLost,
            VolumeAfterQuarantine,
            LateArrival,
            Orphan,
            RevokeOnComputeLost,
            Effect,
            EffectClass,
            Delivery,
            Rule,
            Law,
            Ground,
            Lint,
            DecisionKind,
            Phase,
            ActualPower
        )
    };
}

#[test]
fn words_and_numbers_are_the_ones_that_were_given_out() {
    let mut text = String::new();
    macro_rules! write_out {
        ($($name:ident),+) => {$(
            text.push_str(concat!(stringify!($name), "\n"));
            for member in $name::ALL {
                text.push_str(&format!("  {:>2} {}\n", member.tag(), member.word()));
            }
        )+};
    }
    for_every_enum!(write_out);
    insta::assert_snapshot!("words", text);
}

#[test]
fn a_member_is_read_back_from_its_word_its_number_and_its_json() {
    macro_rules! read_back {
        ($($name:ident),+) => {$(
            assert_eq!($name::ALL.len(), $name::WORDS.len());
            for (place, member) in $name::ALL.iter().enumerate() {
                assert_eq!(usize::from(member.tag()), place + 1);
                assert_eq!($name::from_tag(member.tag()), Some(*member));
                assert_eq!(member.word(), $name::WORDS[place]);
                assert_eq!(member.word().parse(), Ok(*member));
                assert_eq!(member.to_string(), member.word());
                assert_eq!(format!("{member:>40}").len(), 40);
                let json = serde_json::to_string(member).expect("a word is JSON");
                assert_eq!(json, format!("\"{}\"", member.word()));
                assert_eq!(serde_json::from_str::<$name>(&json).ok(), Some(*member));
            }
        )+};
    }
    for_every_enum!(read_back);
}

#[test]
fn nothing_and_numbers_beyond_the_last_are_no_member() {
    macro_rules! beyond {
        ($($name:ident),+) => {$(
            let numbers: Vec<u8> =
                (0..=u8::MAX).filter(|tag| $name::from_tag(*tag).is_some()).collect();
            assert_eq!(numbers, $name::ALL.iter().map(|member| member.tag()).collect::<Vec<_>>());
            assert_eq!($name::from_tag(0), None);
        )+};
    }
    for_every_enum!(beyond);
}

#[test]
fn words_are_lower_case_with_underscores_and_said_once() {
    macro_rules! well_formed {
        ($($name:ident),+) => {$(
            for (place, word) in $name::WORDS.iter().enumerate() {
                assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
                assert!(!$name::WORDS[..place].contains(word), "{word}");
            }
        )+};
    }
    for_every_enum!(well_formed);
}

#[test]
fn an_unknown_word_is_refused_with_the_words_that_are_known() {
    let mut text = String::new();
    macro_rules! refuse {
        ($($name:ident),+) => {$(
            for unknown in ["", "Running", "running ", " none", "nonsense"] {
                let refused: UnknownWord =
                    unknown.parse::<$name>().expect_err("no enum has this word");
                assert_eq!(refused.words, $name::WORDS);
            }
            text.push_str(&format!("{}\n", "?".parse::<$name>().expect_err("no word")));
        )+};
    }
    for_every_enum!(refuse);
    insta::assert_snapshot!("unknown_words", text);
}

#[test]
fn a_set_of_effects_is_written_and_read_in_one_order() {
    let backwards: Effects = Effect::ALL.iter().rev().copied().collect();
    assert_eq!(backwards, Effects::ALL);
    assert_eq!(backwards.to_string(), Effect::WORDS.join("+"));
    assert_eq!(backwards.iter().collect::<Vec<_>>(), Effect::ALL);
    assert_eq!(Effects::NONE.to_string(), "");
    for effect in Effect::ALL {
        let one = Effects::NONE.with(*effect);
        assert_eq!(one.with(*effect), one);
        assert_eq!(one.without(*effect), Effects::NONE);
        assert!(one.intersects(Effects::ALL) && !one.intersects(Effects::ALL.without(*effect)));
    }
}

#[test]
fn an_effect_is_delivered_one_way_and_has_one_class() {
    let mut text = String::new();
    for effect in Effect::ALL {
        let is_record = effect.word().starts_with("record_");
        assert_eq!(effect.delivery() == Delivery::WithCommit, is_record);
        text.push_str(&format!(
            "{effect}: {}, {}\n",
            effect.class(),
            effect.delivery()
        ));
    }
    let apart = Delivery::ALL.iter().map(|way| Effects::ALL.delivered(*way));
    assert_eq!(apart.fold(Effects::NONE, Effects::union), Effects::ALL);
    insta::assert_snapshot!("effects", text);
}

#[test]
fn the_named_policies_are_found_by_name_and_have_no_lint() {
    for (name, policy) in Policy::NAMED {
        let found = Policy::named(name).expect("a named policy");
        assert_eq!(found.thresholds(), policy.thresholds());
        assert_eq!(found.choices(), policy.choices());
        assert!(policy.lints().is_empty(), "{name}: {}", policy.lints());
    }
    assert!(Policy::named("careless").is_none());
    let shown: String = Policy::NAMED
        .iter()
        .map(|(name, policy)| {
            format!(
                "{name}\n{:#?}\n{:#?}\n",
                policy.choices(),
                policy.thresholds()
            )
        })
        .collect();
    insta::assert_snapshot!("policies", shown);
}
