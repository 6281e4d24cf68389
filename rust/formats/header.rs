//! What stands before the first T, O or R: discount, values, the symbols, and where episodes begin.

use crate::error::Result;
use crate::formats::lexer::{Lexer, Token, excerpt};
use crate::formats::symbols::Symbols;

pub struct Header<'t> {
    pub discount: f64,
    /// The file counts what to pay rather than what to gain.
    pub costs: bool,
    pub states: Symbols<'t>,
    pub actions: Symbols<'t>,
    pub observations: Symbols<'t>,
    /// As written: it may still miss 1 a little.
    pub start: Vec<f64>,
}

/// Words that begin a part of the file.
pub const SECTIONS: [&str; 9] =
    ["discount", "values", "states", "actions", "observations", "start", "T", "O", "R"];

/// The refusal of a word that begins no part of the file.
pub fn unknown_section(lexer: &Lexer<'_>) -> crate::error::Error {
    match lexer.token {
        Token::Word(word) if lexer.followed_by_colon() => lexer.error(format!(
            "unknown section {}; the format has {}, and this dialect is not part of it",
            excerpt(word),
            SECTIONS.map(|section| format!("`{section}:`")).join(" ")
        )),
        _ => lexer.expected("the beginning of a section, such as `T:`"),
    }
}

fn at_section(lexer: &Lexer<'_>) -> bool {
    match lexer.token {
        Token::Word(word) => SECTIONS.contains(&word),
        Token::End => true,
        _ => false,
    }
}

/// Sets a header entry that may be given only once.
fn once<T>(slot: &mut Option<T>, value: T, lexer: &Lexer<'_>, place: usize, section: &str) -> Result<()> {
    if slot.replace(value).is_some() {
        return Err(lexer.error_at(place, format!("`{section}` is given a second time")));
    }
    Ok(())
}

impl<'t> Header<'t> {
    /// Reads up to the first T, O or R, or the end. The sections may come in any order; of two
    /// discounts or two kinds of values the later counts, as in Cassandra's reader.
    pub fn read(lexer: &mut Lexer<'t>) -> Result<Self> {
        let (mut discount, mut costs) = (None, None);
        let (mut states, mut actions, mut observations, mut start) = (None, None, None, None);
        loop {
            let place = lexer.place;
            let section = match lexer.token {
                Token::End | Token::Word("T" | "O" | "R") => break,
                Token::Word(word) if SECTIONS.contains(&word) => word,
                _ => return Err(unknown_section(lexer)),
            };
            lexer.advance()?;
            if section == "start" {
                // The states may be declared later: remember the place and come back.
                once(&mut start, lexer.clone(), lexer, place, section)?;
                while !at_section(lexer) {
                    lexer.advance()?;
                }
                continue;
            }
            lexer.colon(&format!("`{section}`"))?;
            match section {
                "discount" => discount = Some(read_discount(lexer)?),
                "values" => costs = Some(read_values(lexer)?),
                "states" => once(&mut states, Symbols::read("state", lexer)?, lexer, place, section)?,
                "actions" => once(&mut actions, Symbols::read("action", lexer)?, lexer, place, section)?,
                _ => once(&mut observations, Symbols::read("observation", lexer)?, lexer, place, section)?,
            }
        }
        let missing =
            |section: &str| lexer.error(format!("no `{section}:` before this; the format demands it"));
        let states = states.ok_or_else(|| missing("states"))?;
        Ok(Header {
            discount: discount.ok_or_else(|| missing("discount"))?,
            costs: costs.ok_or_else(|| missing("values"))?,
            actions: actions.ok_or_else(|| missing("actions"))?,
            observations: observations.ok_or_else(|| missing("observations"))?,
            start: match start {
                Some(mut place) => read_start(&mut place, &states)?,
                None => vec![1.0 / states.count as f64; states.count],
            },
            states,
        })
    }
}

fn read_discount(lexer: &mut Lexer<'_>) -> Result<f64> {
    let place = lexer.place;
    let discount = lexer.number()?;
    if !(0.0..=1.0).contains(&discount) {
        return Err(lexer.error_at(place, format!("discount {discount} is not in [0, 1]")));
    }
    Ok(discount)
}

fn read_values(lexer: &mut Lexer<'_>) -> Result<bool> {
    let costs = match lexer.token {
        Token::Word("reward") => false,
        Token::Word("cost") => true,
        _ => return Err(lexer.expected("`reward` or `cost`")),
    };
    lexer.advance()?;
    Ok(costs)
}

/// A distribution over the states, from what follows the word `start`.
fn read_start<'t>(lexer: &mut Lexer<'t>, states: &Symbols<'t>) -> Result<Vec<f64>> {
    let (count, place) = (states.count, lexer.place);
    let listed = match lexer.token {
        Token::Word("include") => Some(1.0),
        Token::Word("exclude") => Some(0.0),
        _ => None,
    };
    if listed.is_some() {
        lexer.advance()?;
    }
    lexer.colon("`start`, `start include` or `start exclude`")?;
    let start = match (listed, lexer.token) {
        (Some(mark), _) => {
            let mut weights = vec![1.0 - mark; count];
            let mut all = false;
            while !at_section(lexer) {
                let named = states.reference(lexer)?;
                // A second `*` changes nothing; a million of them must not cost a million fills.
                if !all {
                    all = named.len() == count;
                    weights[named].fill(mark);
                }
            }
            let total: f64 = weights.iter().sum();
            if total == 0.0 {
                return Err(lexer.error_at(place, "no state is left to start in"));
            }
            weights.iter().map(|weight| weight / total).collect()
        }
        (None, Token::Word("uniform")) => {
            lexer.advance()?;
            vec![1.0 / count as f64; count]
        }
        (None, Token::Word(_)) if lexer.at_number() => read_start_numbers(lexer, states)?,
        (None, _) => {
            let mut start = vec![0.0; count];
            let place = lexer.place;
            let state = states.reference(lexer)?;
            if state.len() != 1 && count != 1 {
                return Err(
                    lexer.error_at(place, "`start: *` is not part of the format; write `start: uniform`")
                );
            }
            start[state].fill(1.0);
            start
        }
    };
    if !at_section(lexer) {
        return Err(lexer.expected("the end of `start`; several states need `start include:`"));
    }
    Ok(start)
}

/// One probability a state, or the number of a single state.
fn read_start_numbers<'t>(lexer: &mut Lexer<'t>, states: &Symbols<'t>) -> Result<Vec<f64>> {
    let (count, mut ahead) = (states.count, lexer.clone());
    let mut start = Vec::new();
    while ahead.at_number() {
        if start.len() == count {
            return Err(ahead.error(format!("too many probabilities: there are {count} states")));
        }
        start.push(ahead.number()?);
    }
    // With one state, `start: 0` can only be its number and `start: 1` only its probability.
    if start.len() == 1 && (count > 1 || start[0] == 0.0) {
        let state = states.reference(lexer)?;
        start = vec![0.0; count];
        start[state].fill(1.0);
        return Ok(start);
    }
    if start.len() != count {
        let problem = format!("`start` has {} probabilities; there are {count} states", start.len());
        return Err(lexer.error(problem));
    }
    *lexer = ahead;
    Ok(start)
}
