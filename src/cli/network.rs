//! The hosts and ports of the host's network that `--allow-net` opens.

use std::net::{SocketAddr, ToSocketAddrs as _};

use super::lookup::reason;
use crate::session::{OutsideHost, StartError};

/// Looks up what an option names. It is done once, before the run: where a name leads to later
/// changes nothing.
///
/// # Errors
/// What is no HOST:PORT, and names that are not known.
pub(super) fn resolve(name: &str) -> Result<OutsideHost, StartError> {
    let fail = |why: &str| StartError::Other(format!("--allow-net={name}: {why}"));
    let form = "say HOST:PORT, as in example.org:443, 127.0.0.1:80 or [::1]:80";
    let (host, port) = name.rsplit_once(':').ok_or_else(|| fail(form))?;
    let is_port =
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    let plain = host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
    if host.is_empty() || !is_port || !plain || host.contains(':') && !host.starts_with('[') {
        return Err(fail(form));
    }
    let found = name
        .to_socket_addrs()
        .map_err(|error| fail(&format!("{}; name a host that is known", reason(&error))))?;
    let mut addresses: Vec<SocketAddr> = found.collect();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(OutsideHost { name: name.to_owned(), addresses })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_no_look_up() {
        for (name, at) in
            [("127.0.0.1:80", "127.0.0.1:80"), ("[::1]:65535", "[::1]:65535"), ("10.1.2.3:1", "10.1.2.3:1")]
        {
            let found = resolve(name).expect(name);
            assert_eq!(found, OutsideHost { name: name.into(), addresses: vec![at.parse().expect("one")] });
        }
        assert!(!resolve("localhost:80").expect("known everywhere").addresses.is_empty());
    }

    #[test]
    fn bad_ones_are_named() {
        for name in [
            "",
            "host",
            "host:",
            ":80",
            "host:0",
            "host:65536",
            "host:http",
            "::1:80",
            "::1",
            "h st:1",
            "h:+1",
        ] {
            let error = resolve(name).expect_err(name).to_string();
            assert!(error.starts_with(&format!("--allow-net={name}: say HOST:PORT")), "{error}");
        }
        let error = resolve("no.such.host.invalid:80").expect_err("reserved, RFC 6761").to_string();
        assert!(error.starts_with("--allow-net=no.such.host.invalid:80: "), "{error}");
    }
}
