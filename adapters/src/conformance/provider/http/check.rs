//! What is made of a broken answer, at whichever request of a call it comes?

use core::{
    fmt,
    pin::Pin,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};
use std::sync::Arc;

use lifecycle_core::{Answer, Cause, Proof};

use super::{
    Expected, FAULTS, Fault, HttpHarness, Outcome, Server,
    call::{Answered, Call, assert_sent_once, assert_taken_well, is_incomplete},
};
use crate::{
    conformance::provider::Cannot,
    provider::{Delivered, Seen, VolumeReading},
};

/// One promise of the fault table.
#[derive(Clone, Copy)]
pub struct Check {
    /// The promise, as a sentence.
    pub name: &'static str,
    /// Panics, naming the promise, where it is broken.
    pub run: fn(Arc<dyn HttpHarness>) -> CheckRun,
}

/// A check that runs; it ends with why it could not.
pub type CheckRun = Pin<Box<dyn Future<Output = Result<(), Cannot>> + Send>>;

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Check").field(&self.name).finish()
    }
}

/// Every promise.
pub const CHECKS: &[Check] = &[
    Check {
        name: "a_service_that_is_well_is_understood",
        run: |harness| Box::pin(a_service_that_is_well_is_understood(harness)),
    },
    Check {
        name: "a_typed_not_found_is_a_typed_absence",
        run: |harness| Box::pin(a_typed_not_found_is_a_typed_absence(harness)),
    },
    Check {
        name: "a_broken_answer_is_taken_for_what_it_is",
        run: |harness| Box::pin(a_broken_answer_is_taken_for_what_it_is(harness)),
    },
    Check {
        name: "a_refused_connection_is_unknown",
        run: |harness| Box::pin(a_refused_connection_is_unknown(harness)),
    },
    Check {
        name: "a_page_that_names_no_next_one_makes_no_complete_listing",
        run: |harness| {
            Box::pin(a_page_that_names_no_next_one_makes_no_complete_listing(
                harness,
            ))
        },
    },
];

/// Runs every check; returns those that could not be examined.
///
/// # Panics
///
/// Panics at the first promise that is broken.
pub async fn run(harness: Arc<dyn HttpHarness>) -> Vec<(&'static str, Cannot)> {
    let mut not_examined = Vec::new();
    for check in CHECKS {
        if let Err(cannot) = (check.run)(harness.clone()).await {
            not_examined.push((check.name, cannot));
        }
    }
    not_examined
}

async fn a_service_that_is_well_is_understood(harness: Arc<dyn HttpHarness>) -> Result<(), Cannot> {
    for call in Call::ALL {
        let service = harness.clone();
        let server = Server::start(&harness.transport(), move |request| {
            Outcome::Reply(service.answer(request))
        })
        .await;
        let answered = call.ask(&*harness, &server).await;
        assert!(
            answered.is_well(&harness.target()),
            "a service that is well is understood, but {call:?}: {answered:?}"
        );
        assert_sent_once(&*harness, &server, call, "a service that is well");
    }
    Ok(())
}

async fn a_typed_not_found_is_a_typed_absence(harness: Arc<dyn HttpHarness>) -> Result<(), Cannot> {
    for call in Call::ALL.into_iter().filter(|call| *call != Call::List) {
        let service = harness.clone();
        let server = Server::start(&harness.transport(), move |request| {
            let missing = service.not_found(request);
            Outcome::Reply(missing.unwrap_or_else(|| service.answer(request)))
        })
        .await;
        let answered = call.ask(&*harness, &server).await;
        let proof = match &answered {
            Answered::Seen(Seen {
                answer: Answer::Absent(proof),
                scope: Some(_),
                marker: _,
            })
            | Answered::Read(VolumeReading::Absent(proof))
            | Answered::Done(Ok(Delivered::NotFound(proof))) => Some(*proof),
            Answered::Seen(_) | Answered::Read(_) | Answered::Done(_) | Answered::Listed(_) => None,
        };
        assert_eq!(
            proof,
            Some(Proof::TypedNotFound),
            "what the service does not have, in its own words, is a typed absence, but {call:?}: \
             {answered:?}"
        );
    }
    Ok(())
}

async fn a_broken_answer_is_taken_for_what_it_is(
    harness: Arc<dyn HttpHarness>,
) -> Result<(), Cannot> {
    for fault in FAULTS {
        for call in Call::ALL {
            for reach in [Reach::Alone, Reach::Onwards] {
                let mut first = 0;
                while strike(&harness, fault, call, first, reach).await {
                    first += 1;
                    assert!(first < MOST_REQUESTS, "{call:?} comes to an end");
                }
                assert!(first > 0, "{call:?} asks the service for something");
            }
        }
    }
    Ok(())
}

/// Which requests of a call are struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The first one alone.
    Alone,
    /// The first one and all that follow.
    Onwards,
}

/// Strikes a call at one of its requests; tells whether it got that far.
async fn strike(
    harness: &Arc<dyn HttpHarness>,
    fault: &Fault,
    call: Call,
    first: usize,
    reach: Reach,
) -> bool {
    let count = AtomicUsize::new(0);
    let was_changed = Arc::new(AtomicBool::new(false));
    let (service, fault_now, changed) = (harness.clone(), *fault, was_changed.clone());
    let server = Server::start(&harness.transport(), move |request| {
        let well = service.answer(request);
        let number = count.fetch_add(1, Ordering::SeqCst);
        let is_struck = match reach {
            Reach::Alone => number == first,
            Reach::Onwards => number >= first,
        };
        if is_struck {
            return (fault_now.strike)(well, service.not_found(request));
        }
        changed.fetch_or(service.is_change(request), Ordering::SeqCst);
        Outcome::Reply(well)
    })
    .await;
    let answered = call.ask(&**harness, &server).await;
    let place = format!(
        "{}, {reach:?}, at request {} of {call:?}",
        fault.name,
        first + 1
    );
    assert_sent_once(&**harness, &server, call, &place);
    let requests = server.requests();
    let Some(struck) = requests.get(first) else {
        return false;
    };
    let was_repeated = reach == Reach::Alone && requests[first + 1..].contains(struck);
    if !(was_repeated && answered.is_well(&harness.target())) {
        let was_changed = was_changed.load(Ordering::SeqCst);
        assert_taken_well(&answered, fault, was_changed, &place);
    }
    true
}

async fn a_refused_connection_is_unknown(harness: Arc<dyn HttpHarness>) -> Result<(), Cannot> {
    let refused = Fault {
        name: "a refused connection",
        strike: |_, _| Outcome::Closed,
        expected: Expected::Unknown(&[Cause::Transport]),
    };
    let nowhere = Server::nowhere(&harness.transport()).await;
    for call in Call::ALL {
        let answered = call.at(&*harness, &nowhere).await;
        assert_taken_well(
            &answered,
            &refused,
            false,
            &format!("{} of {call:?}", refused.name),
        );
    }
    Ok(())
}

async fn a_page_that_names_no_next_one_makes_no_complete_listing(
    harness: Arc<dyn HttpHarness>,
) -> Result<(), Cannot> {
    let was_paged = Arc::new(AtomicBool::new(false));
    let (service, paged) = (harness.clone(), was_paged.clone());
    let server = Server::start(&harness.transport(), move |request| {
        match service.page_without_a_next(request) {
            Some(page) => {
                paged.store(true, Ordering::SeqCst);
                Outcome::Reply(page)
            }
            None => Outcome::Reply(service.answer(request)),
        }
    })
    .await;
    let listed = harness.provider(server.address()).list().await;
    if !was_paged.load(Ordering::SeqCst) {
        return Err(Cannot("the service knows no pages"));
    }
    assert!(
        is_incomplete(&listed),
        "a page that is full and names no next one makes no complete listing, but: {listed:?}"
    );
    Ok(())
}

const MOST_REQUESTS: usize = 32;
