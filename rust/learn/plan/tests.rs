use super::*;
use crate::parallel::Ticker;

const SETTINGS: Settings = Settings { points: 200, rounds: 3, sweeps: 60, horizon: 30 };

/// The tiger: listen, open left, open right; 85 % of what is heard is right; opening begins anew.
fn tiger(discount: f64) -> Model {
    let stay = [1.0, 0.0, 0.0, 1.0];
    let anew = [0.5; 4];
    let transitions: Vec<f32> = [stay, anew, anew].concat();
    let (heard, nothing) = ([0.85, 0.15, 0.15, 0.85], [0.5; 4]);
    let emissions: Vec<f32> = [heard, nothing, nothing].concat();
    let rewards = [-1.0, -1.0, -100.0, 10.0, 10.0, -100.0];
    let arrays =
        Arrays { transitions: &transitions, emissions: &emissions, rewards: &rewards, starts: &[0.5, 0.5] };
    Model::new(&arrays, 3, 2, discount).unwrap()
}

#[test]
fn the_tigers_plan_earns_what_is_known_of_it() {
    let plan = plan(&tiger(0.95), &SETTINGS, 1, &Ticker::default()).unwrap();
    // Published: 19.37 at discount 0.95.
    assert!(plan.value > 19.25 && plan.value < 19.38, "{}", plan.value);
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let plans = [0, 1].map(|_| plan(&tiger(0.9), &SETTINGS, 3, &Ticker::default()).unwrap());
    assert!(plans[0].vectors.0 == plans[1].vectors.0 && plans[0].value == plans[1].value);
}

#[test]
fn a_state_that_is_seen_is_planned_exactly() {
    // Three states in a row, all seen: right leads on, the last one ends with 1.
    let (right, left) =
        ([0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let transitions: Vec<f32> = [right, left].concat();
    let emissions = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let rewards = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let arrays = Arrays {
        transitions: &transitions,
        emissions: &emissions,
        rewards: &rewards,
        starts: &[1.0, 0.0, 0.0],
    };
    let model = Model::new(&arrays, 2, 3, 0.9).unwrap();
    let plan = plan(&model, &SETTINGS, 0, &Ticker::default()).unwrap();
    assert!((plan.value - 0.81).abs() < 1e-5, "{}", plan.value);
}

#[test]
fn what_reset_shows_is_known_to_the_plan() {
    // Two states that are never shown again; the right one of two actions earns 1 and ends, the wrong one nothing.
    let transitions = [0.0f32; 8];
    let rewards = [1.0, 0.0, 0.0, 1.0];
    let arrays =
        |starts| Arrays { transitions: &transitions, emissions: &[1.0, 1.0], rewards: &rewards, starts };
    let value = |starts| {
        let model = Model::new(&arrays(starts), 2, 1, 0.9).unwrap();
        plan(&model, &SETTINGS, 0, &Ticker::default()).unwrap().value
    };
    assert!((value(&[0.5, 0.0, 0.0, 0.5]) - 1.0).abs() < 1e-6);
    assert!((value(&[0.5, 0.5]) - 0.5).abs() < 1e-6);
}

#[test]
fn what_does_not_fit_is_refused() {
    let arrays = Arrays { transitions: &[1.0], emissions: &[1.0, 1.0], rewards: &[0.0], starts: &[1.0] };
    assert!(Model::new(&arrays, 1, 1, 0.9).is_err());
    let arrays = Arrays { emissions: &[1.0], ..arrays };
    assert!(Model::new(&arrays, 1, 1, 1.0).is_err());
    assert!(Model::new(&Arrays { rewards: &[f32::NAN], ..arrays }, 1, 1, 0.9).is_err());
    assert!(Model::new(&Arrays { transitions: &[2.0], ..arrays }, 1, 1, 0.9).is_err());
}
