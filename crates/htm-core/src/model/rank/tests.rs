use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn ranking(by_text: bool, by_vector: bool) -> Ranking {
    Ranking::new(&RecallSettings::default(), by_text, by_vector)
}

fn asked(words: &[f64]) -> Asked {
    let lexeme =
        |(at, nodes): (usize, &f64)| Lexeme { lexeme: format!("w{at}"), nodes: *nodes, ..Lexeme::default() };
    let corpus = Corpus { nodes: 1_000.0, average_lexemes: 20.0 };
    Asked::new(corpus, words.iter().enumerate().map(lexeme).collect())
}

fn member(id: i64, similarity: f64, frequencies: &[f64]) -> Member {
    Member {
        vector_rank: Some(id),
        text_rank: Some(id),
        similarity: Some(similarity),
        terms: Terms { lexemes: 20, length: 20.0, frequencies: frequencies.into(), together: Vec::new() },
        ..Member::new(NodeId(id))
    }
}

fn order(ranked: &[Ranked]) -> Vec<i64> {
    ranked.iter().map(|ranked| ranked.id.0).collect()
}

#[test]
fn rare_words_and_near_vectors_come_first() {
    let asked = asked(&[2.0, 300.0]);
    let members =
        || vec![member(1, 0.1, &[0.0, 1.0]), member(2, 0.2, &[1.0, 0.0]), member(3, 0.9, &[0.0, 1.0])];
    assert_eq!(order(&rank(&asked, &ranking(true, false), members(), &[])), [2, 3, 1]);
    assert_eq!(order(&rank(&asked, &ranking(false, true), members(), &[])), [3, 2, 1]);
    let both = rank(&asked, &ranking(true, true), members(), &[]);
    assert_eq!(order(&both), [3, 2, 1]);
    // Of equal scores, the newest comes first.
    let equal = rank(
        &asked,
        &ranking(true, true),
        vec![member(4, 0.5, &[1.0, 1.0]), member(5, 0.5, &[1.0, 1.0])],
        &[],
    );
    assert_eq!(order(&equal), [5, 4]);
}

#[test]
fn the_words_of_a_memory_without_a_vector_stand_for_both_legs() {
    let asked = asked(&[2.0]);
    let unembedded = Member { vector_rank: None, similarity: None, ..member(1, 0.0, &[1.0]) };
    let members = vec![unembedded, member(2, 0.3, &[0.0]), member(3, 0.2, &[0.0])];
    let ranked = rank(&asked, &ranking(true, true), members, &[]);
    assert_eq!(order(&ranked), [1, 2, 3]);
    assert_eq!((ranked[0].score, ranked[0].parts.vector), (Some(1.0), 0.0));
    assert_eq!(ranked[1].score, Some(0.5));
}

#[test]
fn what_has_no_word_is_no_hit_of_the_text() {
    let asked = asked(&[2.0]);
    let without = Member { vector_rank: None, similarity: None, ..member(1, 0.0, &[0.0]) };
    let members = vec![without, member(2, 0.3, &[0.0]), member(3, 0.2, &[1.0])];
    let ranked = rank(&asked, &ranking(true, true), members, &[]);
    assert_eq!(ranked.len(), 2);
    assert!(ranked.iter().all(|ranked| ranked.text_rank.is_some() == (ranked.id == NodeId(3))));
}

#[test]
fn a_turn_beside_a_good_one_gains() {
    let asked = asked(&[2.0]);
    let beside =
        Member { vector_rank: None, text_rank: None, similarity: Some(0.1), ..member(9, 0.1, &[0.0]) };
    let mut members: Vec<Member> = (1..8).map(|id| member(id, 0.1 + id as f64 / 100.0, &[0.0])).collect();
    members.push(member(8, 0.9, &[3.0]));
    members.push(beside);
    let link = Link { turn: NodeId(8), other: NodeId(9), steps: 1 };
    let ranked = rank(&asked, &ranking(true, true), members.clone(), &[link]);
    assert_eq!(order(&ranked)[..2], [8, 9]);
    assert!(ranked[1].parts.neighbours > 0.0 && ranked[0].parts.neighbours < 0.0);
    let alone = rank(&asked, &ranking(true, true), members, &[]);
    assert_eq!(order(&alone).last(), Some(&9));
}

#[test]
fn what_the_query_names_adds_to_a_sum_of_both_legs() {
    let asked = asked(&[2.0]);
    let named = || {
        let named = Member { is_of_speaker: true, is_of_month: true, ..member(1, 0.5, &[1.0]) };
        vec![named, member(2, 0.5, &[1.0]), member(3, 0.1, &[1.0])]
    };
    let both = rank(&asked, &ranking(true, true), named(), &[]);
    assert_eq!((order(&both)[0], both[0].parts.speaker, both[0].parts.time), (1, 0.15, 0.3));
    let text = rank(&asked, &ranking(true, false), named(), &[]);
    assert_eq!((order(&text)[0], text[0].parts.time), (3, 0.0));
}

prop_compose! {
    fn any_member()(
        id in 1_i64..40, vector in prop::option::of(1_i64..100), text in prop::option::of(1_i64..100),
        by_tag: bool, lexemes in 0_u32..300, similarity in prop::option::of(-1.0_f64..1.0),
        frequencies in prop::collection::vec((0_u8..5).prop_map(f64::from), 3),
        together in prop::sample::subsequence(vec![0_usize, 1], 0..=2),
        sought in prop::collection::vec((0_usize..3, 1.0_f64..4.0), 0..3), is_of_speaker: bool, is_of_month: bool,
    ) -> Member {
        Member {
            id: NodeId(id), vector_rank: vector, text_rank: text, by_tag, similarity,
            terms: Terms { lexemes, length: f64::from(lexemes), frequencies, together }, sought, is_of_speaker, is_of_month,
            created_at: None,
        }
    }
}

proptest! {
    #[test]
    fn parts_add_up_and_the_order_is_that_of_the_scores(
        members in prop::collection::vec(any_member(), 0..30), by_text: bool, by_vector: bool, rrf: bool,
        links in prop::collection::vec((1_i64..40, 1_i64..40, 1_i64..=2), 0..20),
    ) {
        let mut asked = asked(&[2.0, 30.0, 400.0]);
        asked.pairs = [1.0, 2.0].map(|idf| Pair { first: 0, second: 1, distance: 1, idf }).into();
        asked.sought = vec![Sought { is_prefix: true, idf: 2.0 }, Sought { is_prefix: false, idf: 3.0 }];
        let fusion = if rrf { Fusion::Rrf } else { Fusion::Convex };
        let ranking = Ranking { fusion, ..ranking(by_text, by_vector) };
        let links: Vec<Link> =
            links.into_iter().map(|(turn, other, steps)| Link { turn: NodeId(turn), other: NodeId(other), steps }).collect();
        let mut ids = HashSet::new();
        let members: Vec<Member> = members.into_iter().filter(|member| ids.insert(member.id)).collect();
        let count = members.len();
        let ranked = rank(&asked, &ranking, members.clone(), &links);
        prop_assert!(ranked.len() <= count);
        let mut before = f64::INFINITY;
        for hit in &ranked {
            let score = hit.score.unwrap_or(f64::NEG_INFINITY);
            prop_assert!(!score.is_nan() && score <= before);
            before = score;
            if let Some(score) = hit.score {
                prop_assert!((hit.parts.sum() - score).abs() < 1e-9);
            }
            prop_assert!(hit.text_share.is_none_or(|share| share >= 0.0));
        }
        // The default ranking, as a learnt one, gives the same scores.
        let learnt = Ranking { learnt: Some(Arc::new(Learnt::default_ranking())), ..ranking };
        let by_learnt = rank(&asked, &learnt, members, &links);
        let scores: HashMap<NodeId, Option<f64>> = ranked.iter().map(|hit| (hit.id, hit.score)).collect();
        prop_assert_eq!(by_learnt.len(), ranked.len());
        for hit in &by_learnt {
            let (was, now) = (scores[&hit.id].unwrap_or(0.0), hit.score.unwrap_or(0.0));
            prop_assert!((was - now).abs() < 1e-4 * (1.0 + was.abs()), "{} is {}", was, now);
            prop_assert!(hit.features.is_none_or(|features| features.iter().all(|feature| feature.is_finite())));
        }
    }
}
