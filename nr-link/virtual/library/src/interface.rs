// SPDX-License-Identifier: Apache-2.0
//! The C interface, as `../driver/nr_link.h` declares it.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

use nr_link_virtual_plan::{ABI, PLAN_VARIABLE};

use crate::fail;
use crate::handle::Lost;
use crate::link::VirtualLink;
use crate::streams;
use crate::trace::{Column, Declared, Form};

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

/// struct nr_link_trace_column.
#[repr(C)]
pub struct TraceColumn {
    name: *const c_char,
    labels: *const *const c_char,
    label_count: u32,
    fraction_bits: u32,
}

/// struct nr_link_trace.
#[repr(C)]
pub struct Trace {
    name: *const c_char,
    columns: *const TraceColumn,
    column_count: u32,
    number: u32,
    next: *const Self,
}

/// struct nr_link_calls.
#[repr(C)]
pub struct Calls {
    abi: u32,
    open: unsafe extern "C" fn(*mut Setup, Lost, *const Trace) -> *mut VirtualLink,
    start: unsafe extern "C" fn(*mut VirtualLink, i64),
    enqueue:
        unsafe extern "C" fn(*mut VirtualLink, u32, u64, *const c_void, u32, u32, u64) -> c_int,
    advance: unsafe extern "C" fn(*mut VirtualLink, u64) -> u64,
    next_event: unsafe extern "C" fn(*mut VirtualLink) -> u64,
    dequeue: unsafe extern "C" fn(*mut VirtualLink, *mut Due) -> c_int,
    delivered: unsafe extern "C" fn(*mut VirtualLink, u32, *const c_void, u32, u32, u64),
    sockets: unsafe extern "C" fn(*mut VirtualLink, u32, *const c_void, u32, u64),
    traced: unsafe extern "C" fn(*mut VirtualLink, u32, *const i64, u64),
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
    traced,
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

/// The text at `start`.
///
/// # Safety
/// It is there, and ends with a zero.
unsafe fn text(start: *const c_char) -> String {
    unsafe { CStr::from_ptr(start) }
        .to_string_lossy()
        .into_owned()
}

/// The traces by their number, from `last` on.
///
/// # Safety
/// They are as nr_link_trace.h declares them.
unsafe fn declared(last: *const Trace) -> BTreeMap<u32, Declared> {
    let mut traces = BTreeMap::new();
    let mut next = last;
    while let Some(trace) = unsafe { next.as_ref() } {
        let columns = (0..trace.column_count as usize)
            .map(|index| unsafe { column(&*trace.columns.add(index)) });
        let name = unsafe { text(trace.name) };
        let columns = columns.collect();
        traces.insert(trace.number, Declared { name, columns });
        next = trace.next;
    }
    traces
}

/// # Safety
/// It is as nr_link_trace.h declares it.
unsafe fn column(column: &TraceColumn) -> Column {
    let labels = (0..column.label_count as usize)
        .map(|index| unsafe { text(*column.labels.add(index)) })
        .collect::<Vec<_>>();
    let form = match column.fraction_bits {
        _ if !labels.is_empty() => Form::Labels(labels),
        0 => Form::Whole,
        bits => Form::Fixed(bits),
    };
    let name = unsafe { text(column.name) };
    Column { name, form }
}

unsafe extern "C" fn open(setup: *mut Setup, lost: Lost, traces: *const Trace) -> *mut VirtualLink {
    let Some(plan) = std::env::var_os(PLAN_VARIABLE) else {
        fail(format_args!(
            "{PLAN_VARIABLE} is not set. Start this kernel with nr-link virtual run."
        ));
    };
    let link = match VirtualLink::open(Path::new(&plan), lost, unsafe { declared(traces) }) {
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

unsafe extern "C" fn traced(link: *mut VirtualLink, trace: u32, values: *const i64, now: u64) {
    unsafe {
        (*link).traced(
            trace,
            |width| std::slice::from_raw_parts(values, width),
            now,
        )
    }
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
