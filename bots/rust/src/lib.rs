//! What a bot needs of the arena: implement [`Bot`], and let `main` return [`run`].

use std::collections::HashMap;
use std::env;
use std::process::ExitCode;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;

use v1::referee_service_client::RefereeServiceClient;
use v1::{Choice, Decision, Hello, MatchEnd, MatchStart, PlayRequest, PlayResponse};

/// The messages of `proto/arena/v1`.
pub mod v1 {
    tonic::include_proto!("arena.v1");
}

const PROTOCOL: u32 = 1;

/// One seat of one match: every match has a bot of its own, so matches never mix.
pub trait Bot: Sized {
    /// How many matches one process may hold at once; 1 for a bot that needs the whole machine.
    const MATCHES: u32 = 256;

    /// The bot of a match that begins.
    fn start(start: &MatchStart) -> Self;

    /// One of `decision.legal_actions()`; any other forfeits the match.
    fn choose(&mut self, decision: &Decision) -> u32;

    /// The match is over.
    fn end(self, _end: &MatchEnd) {}
}

impl MatchStart {
    /// A generator seeded by the arena: a bot with no other luck plays a repeated match the same way again.
    pub fn random(&self) -> ChaCha8Rng {
        let mut seed = [0; 32];
        seed.copy_from_slice(&self.bot_seed);
        ChaCha8Rng::from_seed(seed)
    }
}

impl Decision {
    /// The actions to choose from, ascending.
    pub fn legal_actions(&self) -> Vec<u32> {
        match self.legal_count {
            0 => self.legal.clone(),
            count => (self.legal_first..self.legal_first + count).collect(),
        }
    }

    /// Whether an action is one of them.
    pub fn is_legal(&self, action: u32) -> bool {
        match self.legal_count {
            0 => self.legal.contains(&action),
            count => (self.legal_first..self.legal_first + count).contains(&action),
        }
    }
}

/// Plays every match that the arena sends this process, until it says goodbye.
pub fn run<B: Bot>() -> ExitCode {
    let Ok(address) = env::var("ARENA_ADDR") else {
        eprintln!("the arena starts this bot: try `arena match . random --game buttons`");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    match runtime.block_on(play::<B>(&address)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the arena at {address}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play<B: Bot>(address: &str) -> Result<(), Box<dyn std::error::Error>> {
    let channel = Endpoint::from_shared(address.to_owned())?.connect().await?;
    let mut client = RefereeServiceClient::new(channel).max_decoding_message_size(usize::MAX);
    let (answers, requests) = mpsc::channel(1);
    answers.send(hello(B::MATCHES)).await?;
    let mut frames = client
        .play(ReceiverStream::new(requests))
        .await?
        .into_inner();
    let mut table = Table::<B>(HashMap::new());
    while let Some(frame) = frames.message().await? {
        let goodbye = frame.goodbye.is_some();
        if let Some(reply) = table.answer(frame) {
            answers.send(reply).await?;
        }
        if goodbye {
            break;
        }
    }
    Ok(())
}

fn hello(matches: u32) -> PlayRequest {
    let hello = Hello {
        protocol: PROTOCOL,
        token: env::var("ARENA_TOKEN").unwrap_or_default(),
        matches,
        sdk: "rust".into(),
        ..Default::default()
    };
    PlayRequest {
        hello: Some(hello),
        choices: vec![],
    }
}

/// The matches that this process holds, each with a bot of its own.
struct Table<B>(HashMap<u32, B>);

impl<B: Bot> Table<B> {
    /// One frame with every choice that `frame` asks for.
    fn answer(&mut self, frame: PlayResponse) -> Option<PlayRequest> {
        for start in &frame.starts {
            self.0.insert(start.r#match, B::start(start));
        }
        for rejected in &frame.rejections {
            eprintln!("the referee rejected a choice: {}", rejected.reason);
        }
        let choices: Vec<_> = frame
            .decisions
            .iter()
            .map(|decision| self.choice(decision))
            .collect();
        for end in &frame.ends {
            if let Some(bot) = self.0.remove(&end.r#match) {
                bot.end(end);
            }
        }
        (!choices.is_empty()).then_some(PlayRequest {
            hello: None,
            choices,
        })
    }

    fn choice(&mut self, decision: &Decision) -> Choice {
        let bot = self
            .0
            .get_mut(&decision.r#match)
            .expect("a match that was started");
        Choice {
            r#match: decision.r#match,
            decision: decision.decision,
            action: bot.choose(decision),
        }
    }
}
