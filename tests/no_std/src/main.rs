//! Does the core decide in a program that has no std, no allocator, no libc and no way to panic?
//!
//! The inputs are opaque to the optimizer, so that every path that inputs can reach is
//! linked. `check.sh` looks at what was linked, and runs it: it exits with the number of the status.

#![no_std]
#![no_main]

use core::{
    arch::{asm, naked_asm},
    hint::black_box,
    panic::PanicInfo,
};

use lifecycle_core::{
    Asked, Choices, FleetGuard, Machine, Observation, Policy, Proof, ScopeWindow, Source, Status,
    Table, Thresholds, Timestamp, decide,
};

fn decided() -> u8 {
    let now = black_box(Timestamp::from_millis(10_000_000));
    let mut machine = Machine::new(
        black_box("account-1/eu"),
        black_box(Some("m")),
        Timestamp::from_millis(0),
    );
    machine.status = Status::Running;
    let machine = black_box(machine);
    let answer = lifecycle_core::Answer::Absent(Proof::Tombstone);
    let seen = black_box(Some(Observation::of(&machine, answer, now, Source::Sweep)));
    // A table built here, as a service would; the policy that carries it is checked as well.
    let table = Table::new(black_box(Choices::DEFAULT));
    let Ok(policy) = Policy::new(&table, black_box(Thresholds::CAUTIOUS)) else {
        return 0;
    };
    let policy = black_box(policy);
    let asked = black_box(Asked::NOTHING);
    let decision = black_box(decide(&machine, seen.as_ref(), asked, now, &policy));
    let scope = black_box(ScopeWindow::default());
    let judgement = decision.judgement;
    black_box(FleetGuard::DEFAULT.examine(&machine, judgement, asked, scope, now));
    black_box((decision.kind(), machine.next_generation(None, now)));
    decision.next.status.tag()
}

/// The entry point: the stack is as the kernel left it, and a function wants it as a call does.
// SAFETY: no other symbol of this program has this name, and it never returns.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn _start() -> ! {
    naked_asm!("and rsp, -16", "call {exit}", "ud2", exit = sym exit)
}

extern "C" fn exit() -> ! {
    let status = u64::from(decided());
    // SAFETY: exit (60) ends the program and touches no memory.
    unsafe { asm!("syscall", in("rax") 60_u64, in("rdi") status, options(noreturn, nostack)) }
}

/// Required of every such program; `check.sh` fails if anything can come here.
#[panic_handler]
fn panicked(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Copies bytes: what the compiler calls where std would bring libc.
///
/// # Safety
///
/// As of C.
// SAFETY: no other symbol of this program has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller promises both ranges.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// Sets bytes.
///
/// # Safety
///
/// As of C.
// SAFETY: no other symbol of this program has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller promises the range.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("eax") value,
            options(nostack, preserves_flags));
    }
    to
}

/// Compares bytes.
///
/// # Safety
///
/// As of C.
// SAFETY: no other symbol of this program has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    let mut place = 0;
    while place < count {
        // SAFETY: the caller promises both ranges.
        if unsafe { one.add(place).read() != other.add(place).read() } {
            return 1;
        }
        place += 1;
    }
    0
}

/// Compares bytes; the core only asks whether they are equal.
///
/// # Safety
///
/// As of C.
// SAFETY: no other symbol of this program has this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the same promise.
    unsafe { bcmp(one, other, count) }
}

/// Named by the unwind tables of the prebuilt `core`; with panic=abort nothing calls it.
// SAFETY: no other symbol of this program has this name.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
