//! Which bytes lie near given ones?

use super::dice::Dice;

/// Changes one to four places of an input.
pub(crate) fn mutate(dice: &mut Dice, mut bytes: Vec<u8>) -> Vec<u8> {
    for _ in 0..=dice.below(4) {
        change(dice, &mut bytes);
    }
    bytes
}

fn change(dice: &mut Dice, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        bytes.push(dice.byte());
        return;
    }
    let place = dice.below(bytes.len());
    match dice.below(7) {
        0 => bytes[place] ^= 1 << dice.below(8),
        1 => bytes[place] = dice.byte(),
        2 => bytes.insert(place, dice.byte()),
        3 => {
            bytes.remove(place);
        }
        4 => bytes.truncate(place),
        5 => {
            let end = place + dice.below(bytes.len() - place);
            let copied = bytes[place..end].to_vec();
            bytes.splice(place..place, copied);
        }
        _ => {
            let token = dice.pick(&TOKENS);
            let end = place + token.len().min(bytes.len() - place);
            bytes.splice(place..end, token.bytes());
        }
    }
}

/// What JSON and our numbers are made of.
const TOKENS: [&str; 14] = [
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "-",
    "0",
    "9223372036854775807",
    "18446744073709551616",
    "1e3",
];
