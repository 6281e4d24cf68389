//! Words, colons and stars of a `.pomdp` file. White space only separates; `#` hides the rest of a line.

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'t> {
    /// A name, a keyword or a number: whatever stands between white space, colons and stars.
    Word(&'t str),
    Colon,
    Star,
    End,
}

/// The token under the reader and where it begins. Cheap to clone, which is how to look further ahead.
#[derive(Clone)]
pub struct Lexer<'t> {
    bytes: &'t [u8],
    next: usize,
    pub token: Token<'t>,
    pub place: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// True of what can only be meant as a number; names begin otherwise.
pub fn looks_numeric(word: &str) -> bool {
    matches!(word.as_bytes().first(), Some(b'0'..=b'9' | b'+' | b'-' | b'.'))
}

/// The beginning of a word, for messages: a hostile file may hold one of any length, and characters that a terminal
/// obeys rather than shows.
pub fn excerpt(word: &str) -> String {
    const LONGEST: usize = 40;
    let shown: String = word.chars().take(LONGEST).map(printable).collect();
    let more = if word.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// The character itself where it can be seen, else its number.
fn printable(character: char) -> String {
    match character {
        '\'' | '"' | '\\' => character.into(),
        _ => character.escape_debug().collect(),
    }
}

impl<'t> Lexer<'t> {
    pub fn new(bytes: &'t [u8]) -> Result<Self> {
        let next = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut lexer = Lexer { bytes, next, token: Token::End, place: next };
        lexer.advance()?;
        Ok(lexer)
    }

    /// Moves to the next token.
    pub fn advance(&mut self) -> Result<()> {
        let bytes = self.bytes;
        let mut at = self.next;
        while let Some(&byte) = bytes.get(at) {
            if byte == b'#' {
                at += bytes[at..].iter().take_while(|&&b| b != b'\n' && b != b'\r').count();
            } else if is_space(byte) {
                at += 1;
            } else {
                break;
            }
        }
        self.place = at;
        self.next = at + 1;
        self.token = match bytes.get(at) {
            None => {
                self.next = at;
                Token::End
            }
            Some(b':') => Token::Colon,
            Some(b'*') => Token::Star,
            Some(_) => {
                let ends = |b: &u8| is_space(*b) || matches!(b, b':' | b'*' | b'#');
                let length = bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at);
                self.next = at + length;
                match std::str::from_utf8(&bytes[at..at + length]) {
                    Ok(word) => Token::Word(word),
                    Err(_) => return Err(self.error("this word is not UTF-8 text")),
                }
            }
        };
        Ok(())
    }

    /// An error at the current token.
    pub fn error(&self, problem: impl Into<String>) -> Error {
        self.error_at(self.place, problem)
    }

    /// An error at a byte of the file; line and column are counted only now, so reading does not pay for them.
    pub fn error_at(&self, place: usize, problem: impl Into<String>) -> Error {
        let before = &self.bytes[..place.min(self.bytes.len())];
        let breaks = |(at, &byte): (usize, &u8)| {
            let old_style = byte == b'\r' && self.bytes.get(at + 1) != Some(&b'\n');
            (byte == b'\n' || old_style).then_some(at + 1)
        };
        let line = before.iter().enumerate().filter_map(breaks).count() + 1;
        let first = before.iter().enumerate().filter_map(breaks).next_back().unwrap_or(0);
        let column =
            String::from_utf8_lossy(&before[first..]).trim_start_matches('\u{feff}').chars().count() + 1;
        Error::Text { line, column, problem: problem.into() }
    }

    /// An error that says what should have stood here.
    pub fn expected(&self, what: &str) -> Error {
        let found = match self.token {
            Token::Word(word) => excerpt(word),
            Token::Colon => "`:`".into(),
            Token::Star => "`*`".into(),
            Token::End => "the end of the file".into(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub fn colon(&mut self, after: &str) -> Result<()> {
        if self.token != Token::Colon {
            return Err(self.expected(&format!("`:` after {after}")));
        }
        self.advance()
    }

    /// True, and moves on, if a colon stands here.
    pub fn skips_colon(&mut self) -> Result<bool> {
        let found = self.token == Token::Colon;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub fn at_number(&self) -> bool {
        matches!(self.token, Token::Word(word) if looks_numeric(word))
    }

    /// The word after this token, if one comes; an unreadable one counts as none, and is refused when reached.
    pub fn followed_by_colon(&self) -> bool {
        let mut ahead = self.clone();
        ahead.advance().is_ok() && ahead.token == Token::Colon
    }

    /// A finite number; its sign may stand apart, as in `- 5`.
    pub fn number(&mut self) -> Result<f64> {
        let place = self.place;
        let (mut sign, mut unsigned_only) = (1.0, false);
        if let Token::Word(word @ ("+" | "-")) = self.token {
            sign = if word == "-" { -1.0 } else { 1.0 };
            unsigned_only = true;
            self.advance()?;
        }
        let Token::Word(word) = self.token else { return Err(self.expected("a number")) };
        if !looks_numeric(word) || unsigned_only && word.starts_with(['+', '-']) {
            return Err(self.expected("a number"));
        }
        let Ok(value) = word.parse::<f64>() else {
            return Err(self.error(format!("{} is not a number", excerpt(word))));
        };
        if !value.is_finite() {
            return Err(self.error_at(place, format!("{} is not a finite number", excerpt(word))));
        }
        self.advance()?;
        // Adding zero turns −0 into 0, which the format does not tell apart.
        Ok(sign * value + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_over_every_kind_of_line_end() {
        let mut lexer = Lexer::new("a # \u{e9}\r\nb\rc\n\u{e9} d".as_bytes()).unwrap();
        let mut places = vec![];
        while lexer.token != Token::End {
            let Error::Text { line, column, .. } = lexer.error("") else { unreachable!() };
            places.push((line, column));
            lexer.advance().unwrap();
        }
        assert_eq!(places, [(1, 1), (2, 1), (3, 1), (4, 1), (4, 3)]);
    }

    #[test]
    fn words_in_messages_cannot_command_a_terminal() {
        assert_eq!(excerpt("a\u{1b}[2Jé'\u{202e}"), "`a\\u{1b}[2Jé'\\u{202e}`");
        assert_eq!(excerpt(&"é".repeat(41)), format!("`{}…`", "é".repeat(40)));
    }

    #[test]
    fn numbers_in_every_spelling() {
        let mut lexer = Lexer::new(b"1 .5 1. -2.5e-3 +4E+2 - 7 -0.0").unwrap();
        for expected in [1.0, 0.5, 1.0, -2.5e-3, 400.0, -7.0] {
            assert_eq!(lexer.number().unwrap(), expected);
        }
        assert!(lexer.number().unwrap().is_sign_positive());
        for bad in ["1e999", "-inf", "+nan", "1_0", "0x1", "--1", "- -1", "1d5", "one", ":"] {
            assert!(Lexer::new(bad.as_bytes()).unwrap().number().is_err(), "{bad}");
        }
    }
}
