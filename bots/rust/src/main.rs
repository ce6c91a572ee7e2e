//! The bot: this file is the one to change.

use std::cmp::Reverse;
use std::process::ExitCode;

use bot::v1::decision::View;
use bot::v1::{
    BirthView, BurningDesirePhase, BurningDesireView, ButtonsPhase, ButtonsView, Decision,
    MatchStart,
};
use bot::{Bot, run};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;

fn main() -> ExitCode {
    run::<Example>()
}

struct Example {
    seat: usize,
    random: ChaCha8Rng,
}

impl Bot for Example {
    fn start(start: &MatchStart) -> Self {
        Example {
            seat: start.seat as usize,
            random: start.random(),
        }
    }

    fn choose(&mut self, decision: &Decision) -> u32 {
        match &decision.view {
            Some(View::Birth(view)) => self.birth(decision, view),
            Some(View::BurningDesire(view)) => burning_desire(view),
            Some(View::Buttons(view)) => self.buttons(decision, view),
            _ => *decision
                .legal_actions()
                .choose(&mut self.random)
                .expect("a legal action"),
        }
    }
}

impl Example {
    /// The die that lands the pawn in the highest area, of equal ones the lowest.
    fn birth(&self, decision: &Decision, view: &BirthView) -> u32 {
        let area = |action: &u32| view.areas[self.landing(view, action + 1)];
        decision
            .legal_actions()
            .into_iter()
            .max_by_key(|action| (area(action), Reverse(*action)))
            .expect("a die")
    }

    /// Where the pawn stops that goes `face` spaces, and again as long as somebody else stands there.
    fn landing(&self, view: &BirthView, face: u32) -> usize {
        let ring = view.areas.len() as u32;
        let taken = |space: u32| {
            view.seats
                .iter()
                .enumerate()
                .any(|(seat, it)| seat != self.seat && it.pawn == space)
        };
        let mut space = (view.seats[self.seat].pawn + face) % ring;
        while taken(space) {
            space = (space + face) % ring;
        }
        space as usize
    }

    /// Three buttons are enough; they go where own stars are in line.
    fn buttons(&self, decision: &Decision, view: &ButtonsView) -> u32 {
        let own = &view.seats[self.seat];
        match view.phase() {
            ButtonsPhase::Side => FRONT,
            ButtonsPhase::Turn if own.buttons.len() >= 3 && decision.is_legal(QUIT) => QUIT,
            ButtonsPhase::Turn => ROLL,
            _ => best_cell(decision, &own.stars),
        }
    }
}

const CELLS: u32 = 36;
const ROLL: u32 = 36;
const QUIT: u32 = 37;
const PASS: u32 = 38;
const FRONT: u32 = 39;

/// The cell with most stars in its row or its column, of equal ones the lowest.
fn best_cell(decision: &Decision, stars: &[u32]) -> u32 {
    let count = |same: &dyn Fn(u32) -> bool| stars.iter().filter(|star| same(**star)).count();
    let line =
        |cell: u32| count(&|star| star / 6 == cell / 6).max(count(&|star| star % 6 == cell % 6));
    let cells = decision
        .legal_actions()
        .into_iter()
        .filter(|action| *action < CELLS);
    cells
        .max_by_key(|cell| (line(*cell), Reverse(*cell)))
        .unwrap_or(PASS)
}

const ROLES: u32 = 128;
const BANK: u32 = 131;

/// The points of a role by the number of its dice, and whether a face belongs to it.
const POINTS: [([u32; 7], fn(u32) -> bool); 3] = [
    ([0, 10, 25, 60, 120, 250, 500], |face| face == 1),
    ([0, 0, 10, 20, 30, 100, 180], |face| face == 2 || face == 3),
    ([0, 0, 5, 10, 20, 30, 80], |face| face >= 4),
];

/// Ones are kept, the best role is scored, and the points are banked.
fn burning_desire(view: &BurningDesireView) -> u32 {
    let points = |role: usize| {
        let (points, belongs) = POINTS[role];
        points[view.dice.iter().filter(|face| belongs(**face)).count()]
    };
    match view.phase() {
        BurningDesirePhase::Roll => (0..)
            .zip(&view.dice)
            .filter(|(_, face)| **face == 1)
            .map(|(die, _)| 1 << die)
            .sum(),
        BurningDesirePhase::Role => {
            ROLES
                + (0..3)
                    .max_by_key(|role| (points(*role), Reverse(*role)))
                    .unwrap() as u32
        }
        _ => BANK,
    }
}
