use super::*;

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
