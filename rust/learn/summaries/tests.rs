use super::*;

/// A cue at reset, then a number that grows by itself.
#[test]
fn the_first_observation_and_differences_are_kept() {
    let summaries = Summaries::new(vec![3, 0], vec![0; 2], Expected::default(), 2, true).unwrap();
    let (mut state, mut x) = (summaries.start(), vec![0.0; summaries.n_shared()]);
    summaries.begin(&mut state, Some(&[2.0, 1.0]));
    summaries.update(&mut state, 1, &[0.0, 4.0]);
    summaries.update(&mut state, 0, &[0.0, f32::NAN]);
    summaries.write_shared(&state, &mut x);
    // Last two observations, last two actions, the last difference, what reset showed, the time.
    assert_eq!(x[..10], [0.0, 4.0, 0.0, 4.0, 0.0, 1.0, 0.0, 2.0, 1.0, 2.0]);
    // Counts of values without decay, then with .9.
    assert_eq!(x[10..16], [2.0, 0.0, 1.0, 1.9, 0.0, 0.9 * 0.9]);
}

#[test]
fn what_an_action_brought_is_its_own() {
    let summaries = Summaries::new(vec![2], vec![0; 2], Expected::default(), 1, true).unwrap();
    let (mut state, mut own) = (summaries.start(), vec![0.0; summaries.n_own()]);
    for (action, value) in [(0, 1.0), (0, 0.0), (1, 1.0)] {
        summaries.update(&mut state, action, &[value]);
    }
    summaries.write_own(&state, 0, 0, &mut own);
    assert_eq!(own, [0.0, 2.0, 0.9 * 1.9, 1.0, 0.5, 0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn many_values_and_actions_are_bounded() {
    let sizes = [1_000_000, 0, 32, 33, 32];
    let summaries = Summaries::new(sizes.repeat(200), vec![0; 5_000], Expected::default(), 4, true).unwrap();
    assert!(summaries.counted.len() * 32 <= MAX_COUNTED && summaries.relations.len() <= MAX_RELATIONS);
    assert_eq!((summaries.paired.len(), summaries.n_own()), (0, 0));
    assert!(
        Summaries::new(vec![], vec![0; 2], Expected::default(), 1, true).is_err()
            && Summaries::new(vec![2], vec![0; 2], Expected::default(), 0, true).is_err()
    );
}
