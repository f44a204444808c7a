//! The one network interface, the loopback, netdevice(7).

use crate::abi::errno::Errno;
use crate::abi::net::*;
use crate::guest::GuestMemory;
use crate::kernel::net::loopback::Loopback;
use crate::kernel::uaccess::{copy_to_user, get_array, get_u32, get_u64, put_u32};

/// Its name, with the NUL.
pub(super) const NAME: &[u8] = b"lo\0";
/// Its number.
pub(super) const INDEX: u32 = 1;
/// Bytes of the largest packet on it.
pub(super) const MTU: u32 = 65_536;
/// Packets of its queue.
pub(super) const QUEUE_LENGTH: u32 = 1000;
/// Bytes of `struct ifreq`, and of the name in it.
const IFREQ: usize = 40;
const IFNAMSIZ: usize = 16;

/// `struct sockaddr_in` with an address.
fn sockaddr(octets: [u8; 4]) -> Vec<u8> {
    let mut bytes = AF_INET.to_le_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend(octets);
    bytes.extend([0; 8]);
    bytes
}

/// Serves a command about interfaces; false for other commands. Those about addresses are for
/// sockets of IP (`inet`); ENODEV for other names, EPERM for changes.
pub(crate) fn ioctl(
    mem: &mut dyn GuestMemory,
    command: u64,
    arg: u64,
    inet: bool,
    loopback: Loopback,
) -> Result<bool, Errno> {
    match command {
        SIOCGIFCONF => return configuration(mem, arg, loopback.inet).map(|()| true),
        SIOCGIFNAME => {
            let request: [u8; IFREQ] = get_array(mem, arg)?;
            if request[16..20] != INDEX.to_le_bytes() {
                return Err(Errno::ENODEV);
            }
            copy_to_user(mem, arg, NAME)?;
            return Ok(true);
        }
        SIOCGIFADDR | SIOCGIFDSTADDR | SIOCGIFBRDADDR | SIOCGIFNETMASK if !inet => return Ok(false),
        SIOCGIFFLAGS | SIOCGIFADDR | SIOCGIFDSTADDR | SIOCGIFBRDADDR | SIOCGIFNETMASK | SIOCGIFMETRIC
        | SIOCGIFMTU | SIOCGIFHWADDR | SIOCGIFINDEX | SIOCGIFTXQLEN | SIOCSIFADDR | SIOCSIFMTU => {}
        _ => return Ok(false),
    }
    let request: [u8; IFREQ] = get_array(mem, arg)?;
    if !request.starts_with(NAME) {
        return Err(Errno::ENODEV);
    }
    let answer = match command {
        SIOCGIFFLAGS => {
            let off = if loopback.up { 0 } else { IFF_UP | IFF_RUNNING };
            ((LOOPBACK_FLAGS & !off) as u16).to_le_bytes().to_vec()
        }
        SIOCGIFADDR | SIOCGIFDSTADDR | SIOCGIFBRDADDR | SIOCGIFNETMASK if !loopback.inet => {
            return Err(Errno::EADDRNOTAVAIL);
        }
        SIOCGIFADDR | SIOCGIFDSTADDR => sockaddr([127, 0, 0, 1]),
        SIOCGIFBRDADDR => sockaddr([0; 4]),
        SIOCGIFNETMASK => sockaddr([255, 0, 0, 0]),
        SIOCGIFMETRIC => 0u32.to_le_bytes().to_vec(),
        SIOCGIFMTU => MTU.to_le_bytes().to_vec(),
        SIOCGIFHWADDR => [&ARPHRD_LOOPBACK.to_le_bytes()[..], &[0; 14]].concat(),
        SIOCGIFINDEX => INDEX.to_le_bytes().to_vec(),
        SIOCGIFTXQLEN => QUEUE_LENGTH.to_le_bytes().to_vec(),
        _ => return Err(Errno::EPERM),
    };
    copy_to_user(mem, arg + IFNAMSIZ as u64, &answer)?;
    Ok(true)
}

/// Reads a request of SIOCSIFFLAGS: whether it names the interface, and the flags; EFAULT.
pub(crate) fn get_flags(mem: &mut dyn GuestMemory, arg: u64) -> Result<(bool, u16), Errno> {
    let request: [u8; IFREQ] = get_array(mem, arg)?;
    Ok((request.starts_with(NAME), u16::from_le_bytes([request[IFNAMSIZ], request[IFNAMSIZ + 1]])))
}

/// SIOCGIFCONF: the addresses of IPv4, as many as there is room for; without a place their size.
fn configuration(mem: &mut dyn GuestMemory, arg: u64, any: bool) -> Result<(), Errno> {
    let room = get_u32(mem, arg)? as i32;
    let place = get_u64(mem, arg.wrapping_add(8))?;
    let mut entry = NAME.to_vec();
    entry.resize(IFNAMSIZ, 0);
    entry.extend(sockaddr([127, 0, 0, 1]));
    entry.resize(IFREQ, 0);
    let fits = any && (place == 0 || room >= IFREQ as i32);
    if place != 0 && fits {
        copy_to_user(mem, place, &entry)?;
    }
    put_u32(mem, arg, if fits { IFREQ as u32 } else { 0 })
}
