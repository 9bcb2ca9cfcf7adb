//! Which names and ports will nobody else choose?

use core::hash::{BuildHasher, Hasher};
use core::net::Ipv4Addr;
use std::collections::hash_map::RandomState;
use std::fs;
use std::net::TcpListener;
use std::process;
use std::time::SystemTime;

/// Returns the prefix, made fit for an unquoted identifier, and 64 random bits.
pub(super) fn name(prefix: &str) -> String {
    let mut name: String = prefix
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(40)
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        name.insert_str(0, "t_");
    }
    format!("{name}_{:016x}", bits())
}

/// Returns a loopback port that is free now.
///
/// Below the range from which the kernel serves outgoing connections: otherwise
/// a client that keeps trying while its server is stopped is sooner or later
/// given that very port, connects to itself, and the server cannot come back.
pub(super) fn port() -> Option<u16> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let outgoing = range
        .ok()
        .and_then(|range| range.split_whitespace().next()?.parse().ok())
        .unwrap_or(32_768_u16);
    let (first, end) = if outgoing > 20_000 {
        (15_000, outgoing)
    } else {
        (61_000, u16::MAX)
    };
    (0..100).find_map(|_| {
        let offset = bits() % u64::from(end - first);
        let port = first + u16::try_from(offset).ok()?;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .is_ok()
            .then_some(port)
    })
}

/// Returns 64 bits; the standard library's hash keys come from the kernel.
pub(super) fn bits() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(process::id());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    hasher.write_u128(now.map_or(0, |now| now.as_nanos()));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{bits, name, port};

    #[test]
    fn a_name_is_an_identifier_of_at_most_63_bytes() {
        let name = name(&format!("9 Ünï-{}", "x".repeat(100)));
        assert!(name.len() <= 63, "{name}");
        assert!(name.starts_with("t_9__n"), "{name}");
        assert!(
            name.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        );
    }

    #[test]
    fn two_draws_differ() {
        assert_ne!(bits(), bits());
    }

    #[test]
    fn a_port_lies_outside_the_outgoing_range() {
        let port = port().expect("one of a hundred ports is free");
        assert!(port >= 15_000);
    }
}
