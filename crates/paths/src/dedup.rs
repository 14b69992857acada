//! A failing check is recorded twice: at once by the handler that clang calls, which knows no terms, and
//! at the end of its region by the check itself, with the condition under which it fails. An exploration
//! needs the second one: it has an alternative.

use nearmiss_abi::event::EventKind;
use nearmiss_trace::Event;

/// Drops the handler's event where the check has one of its own.
pub fn dedup_failed_checks(events: &mut Vec<Event>) {
    let repeated: Vec<bool> = (0..events.len())
        .map(|position| is_repeated(&events[position..]))
        .collect();
    let mut repeated = repeated.into_iter();
    events.retain(|_| !repeated.next().unwrap_or_default());
}

/// Whether the first event is a handler's, and its check follows in the same region: before the next
/// decision.
fn is_repeated(events: &[Event]) -> bool {
    let Some((first, rest)) = events.split_first() else {
        return false;
    };
    let in_region = |event: &&Event| !matches!(event.kind, EventKind::Branch | EventKind::Switch);
    first.kind == EventKind::CheckFailed
        && rest
            .iter()
            .take_while(in_region)
            .any(|event| event.kind == EventKind::Check && !event.truth && event.site == first.site)
}

#[cfg(test)]
mod tests {
    use nearmiss_abi::event::PHASE_FUNCTION;
    use nearmiss_abi::site::SiteId;

    use super::*;

    fn event(kind: EventKind, site: u64, truth: bool) -> Event {
        Event {
            kind,
            site: SiteId(site),
            truth,
            choice: u64::from(truth),
            condition: None,
            switched: None,
            sensitive: false,
            reason: None,
            phase: PHASE_FUNCTION,
            steps_passed: 0,
            frame: 0,
            failure: None,
            exits: false,
            binding: None,
            implied: None,
            by_length: None,
            hint: None,
            word: None,
        }
    }

    #[test]
    fn the_check_of_the_same_region_counts() {
        use EventKind::{Branch, Check, CheckFailed};
        let mut events = vec![
            event(CheckFailed, 1, false),
            event(Check, 2, true),
            event(Check, 1, false),
            event(CheckFailed, 3, false),
            event(Branch, 4, true),
            event(Check, 3, false),
        ];
        let kept = [1, 2, 3, 4, 5].map(|index: usize| events[index]);
        dedup_failed_checks(&mut events);
        assert_eq!(events, kept);
    }
}
