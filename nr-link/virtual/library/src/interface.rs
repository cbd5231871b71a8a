// SPDX-License-Identifier: Apache-2.0
//! The C interface, as `../driver/nr_link.h` declares it.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use nr_link_virtual_plan::PLAN_VARIABLE;

use crate::fail;
use crate::handle::Lost;
use crate::link::VirtualLink;
use crate::streams;

/// NR_LINK_ABI.
const ABI: u32 = 2;

/// struct nr_link_setup.
#[repr(C)]
pub struct Setup {
    devices: u32,
    mtu_bytes: u32,
    kept_bytes: u32,
    sampled_hosts: u32,
    sampled_devices: *const u32,
    ports_length: u32,
    ports: *const u16,
    socket_interval_ns: u64,
    moderation_ns: u64,
    clock_step_ns: u64,
    guest_plan: *const c_char,
    guest_plan_length: u64,
}

/// struct nr_link_due.
#[repr(C)]
pub struct Due {
    handle: u64,
    device: u32,
    congestion_experienced: u32,
}

/// struct nr_link_decision.
#[repr(C)]
pub struct Decision {
    pub now: u64,
    pub gradient_q24: i64,
    pub mu_q24: i32,
    pub draw_q24: i32,
    pub delay_us: u32,
    pub min_rtt_us: u32,
    pub dtt_us: u32,
    pub si_us: u32,
    pub samples: u32,
    pub cwnd_before: u32,
    pub cwnd_after: u32,
    pub local_port: u16,
    pub remote_port: u16,
    pub zone: u8,
    pub action: u8,
}

/// struct nr_link_calls.
#[repr(C)]
pub struct Calls {
    abi: u32,
    open: unsafe extern "C" fn(*mut Setup, Lost) -> *mut VirtualLink,
    start: unsafe extern "C" fn(*mut VirtualLink, i64),
    enqueue:
        unsafe extern "C" fn(*mut VirtualLink, u32, u64, *const c_void, u32, u32, u64) -> c_int,
    advance: unsafe extern "C" fn(*mut VirtualLink, u64) -> u64,
    next_event: unsafe extern "C" fn(*mut VirtualLink) -> u64,
    dequeue: unsafe extern "C" fn(*mut VirtualLink, *mut Due) -> c_int,
    delivered: unsafe extern "C" fn(*mut VirtualLink, u32, *const c_void, u32, u32, u64),
    sockets: unsafe extern "C" fn(*mut VirtualLink, u32, *const c_void, u32, u64),
    decided: unsafe extern "C" fn(*mut VirtualLink, *const Decision),
    report: unsafe extern "C" fn(*mut VirtualLink, *const c_void, u64),
    input: unsafe extern "C" fn(*mut VirtualLink, *mut c_void, u64) -> i64,
    output: unsafe extern "C" fn(*mut VirtualLink, u32, *const c_void, u64) -> i64,
    close: unsafe extern "C" fn(*mut VirtualLink, u64),
}

static CALLS: Calls = Calls {
    abi: ABI,
    open,
    start,
    enqueue,
    advance,
    next_event,
    dequeue,
    delivered,
    sockets,
    decided,
    report,
    input,
    output,
    close,
};

/// The functions of this library.
#[unsafe(no_mangle)]
pub extern "C" fn nr_link_calls() -> *const Calls {
    &raw const CALLS
}

/// The bytes at `start`.
///
/// # Safety
/// They are there, and nobody writes them meanwhile.
unsafe fn bytes<'a>(start: *const c_void, length: usize) -> &'a [u8] {
    if length == 0 {
        return &[];
    }
    unsafe { std::slice::from_raw_parts(start.cast(), length) }
}

unsafe extern "C" fn open(setup: *mut Setup, lost: Lost) -> *mut VirtualLink {
    let Some(plan) = std::env::var_os(PLAN_VARIABLE) else {
        fail(format_args!(
            "{PLAN_VARIABLE} is not set. Start this kernel with nr-link virtual run."
        ));
    };
    let link = match VirtualLink::open(Path::new(&plan), lost) {
        Ok(link) => Box::leak(Box::new(link)),
        Err(reason) => fail(reason),
    };
    let settings = &link.settings;
    // SAFETY: the caller's structure; what it points to lives as long as the link, which is leaked.
    unsafe {
        *setup = Setup {
            devices: settings.devices,
            mtu_bytes: settings.mtu_bytes,
            kept_bytes: settings.kept_bytes,
            sampled_hosts: settings.sampled_devices.len() as u32,
            sampled_devices: settings.sampled_devices.as_ptr(),
            ports_length: settings.ports.len() as u32,
            ports: settings.ports.as_ptr(),
            socket_interval_ns: settings.socket_interval_ns,
            moderation_ns: settings.moderation_ns,
            clock_step_ns: settings.clock_step_ns,
            guest_plan: settings.guest_plan.as_ptr().cast(),
            guest_plan_length: settings.guest_plan.len() as u64,
        };
    }
    link
}

// SAFETY of all below: `link` is what `open` returned, and the kernel calls from one thread.

unsafe extern "C" fn start(link: *mut VirtualLink, utc_ns: i64) {
    unsafe { &mut *link }.start(utc_ns);
}

unsafe extern "C" fn enqueue(
    link: *mut VirtualLink,
    device: u32,
    handle: u64,
    head: *const c_void,
    kept: u32,
    length: u32,
    now: u64,
) -> c_int {
    let head = unsafe { bytes(head, kept as usize) };
    unsafe { &mut *link }
        .enqueue(device as usize, handle, head, length, now)
        .into()
}

unsafe extern "C" fn advance(link: *mut VirtualLink, now: u64) -> u64 {
    unsafe { &mut *link }.advance(now)
}

unsafe extern "C" fn next_event(link: *mut VirtualLink) -> u64 {
    unsafe { &*link }.next_event()
}

unsafe extern "C" fn dequeue(link: *mut VirtualLink, due: *mut Due) -> c_int {
    let Some(arrival) = unsafe { &mut *link }.dequeue() else {
        return 0;
    };
    unsafe {
        *due = Due {
            handle: arrival.handle,
            device: arrival.device,
            congestion_experienced: arrival.congestion_experienced.into(),
        };
    }
    1
}

unsafe extern "C" fn delivered(
    link: *mut VirtualLink,
    device: u32,
    head: *const c_void,
    kept: u32,
    length: u32,
    now: u64,
) {
    let head = unsafe { bytes(head, kept as usize) };
    unsafe { &mut *link }.delivered(device as usize, head, length, now);
}

unsafe extern "C" fn sockets(
    link: *mut VirtualLink,
    host: u32,
    messages: *const c_void,
    length: u32,
    now: u64,
) {
    let messages = unsafe { bytes(messages, length as usize) };
    unsafe { &mut *link }.sockets(host as usize, messages, now);
}

unsafe extern "C" fn decided(link: *mut VirtualLink, decision: *const Decision) {
    unsafe { &mut *link }.decided(unsafe { &*decision });
}

unsafe extern "C" fn report(link: *mut VirtualLink, text: *const c_void, length: u64) {
    let text = unsafe { bytes(text, length as usize) };
    unsafe { &mut *link }.report(text);
}

unsafe extern "C" fn input(_link: *mut VirtualLink, buffer: *mut c_void, length: u64) -> i64 {
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffer.cast(), length as usize) };
    streams::read(buffer)
}

unsafe extern "C" fn output(
    _link: *mut VirtualLink,
    stream: u32,
    text: *const c_void,
    length: u64,
) -> i64 {
    streams::write(stream, unsafe { bytes(text, length as usize) })
}

unsafe extern "C" fn close(link: *mut VirtualLink, now: u64) {
    unsafe { &mut *link }.close(now);
}
