//! Plays the matches that an arena sends to this process: implement [`Bot`], and have `main` return [`run`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use http::uri::PathAndQuery;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use tokio::runtime;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::transport::Endpoint;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use v1::{Choice, Decision, Hello, MatchEnd, MatchStart, PlayRequest, PlayResponse};

/// The messages of `proto/arena/v1`.
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/arena.v1.rs"));
}

const PROTOCOL: u32 = 1;
/// So many times in a decision's limit the referee is told what has been decided: it takes who is silent for stopped.
const PIECES: u32 = 4;
/// How long it takes at most that a reply is on its way, while nothing else runs in this thread.
const SENDING: Duration = Duration::from_millis(1);
static METHOD: &str = "/arena.v1.RefereeService/Play";

/// One seat of one match: every match has a bot of its own, so matches never mix.
pub trait Bot: Sized {
    /// How many matches one process may hold at once; 1 for a bot that needs the whole machine.
    const MATCHES: u32 = 768;

    /// The bot of a match that begins.
    fn start(start: &MatchStart) -> Self;

    /// One of the legal actions, which are ascending; any other forfeits the match.
    fn choose(&mut self, decision: &Decision, legal: &[u32]) -> u32;

    /// The match is over.
    fn end(self, _end: &MatchEnd) {}
}

impl MatchStart {
    /// A generator made from the bot seed: with no other luck, a repeated match is played the same way again.
    pub fn random(&self) -> ChaCha8Rng {
        let seed = self.bot_seed[..].try_into().expect("a seed of 32 bytes");
        ChaCha8Rng::from_seed(seed)
    }

    /// Prints text for yourself; the arena keeps it with the match.
    pub fn log(&self, text: &str) {
        print(&format!("\x1e{}", self.r#match), text);
    }
}

impl Decision {
    /// Prints text for yourself; the arena keeps it with the match, at this decision.
    pub fn log(&self, text: &str) {
        print(&format!("\x1e{}:{}", self.r#match, self.decision), text);
    }
}

impl MatchEnd {
    /// Prints text for yourself; the arena keeps it with the match.
    pub fn log(&self, text: &str) {
        print(&format!("\x1e{}", self.r#match), text);
    }
}

/// A process has many matches in play, so a tag before each line says to which it belongs.
fn print(tag: &str, text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| format!("{tag} {line}\n"))
        .collect();
    eprint!("{}", lines.concat());
}

/// Plays until the arena says goodbye.
pub fn run<B: Bot>() -> ExitCode {
    let Ok(address) = env::var("ARENA_ADDR") else {
        eprintln!("the arena starts this bot: try `arena match . random --game buttons`");
        return ExitCode::from(2);
    };
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    match runtime.block_on(play::<B>(&address)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the arena at {address}: {}", in_words(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn play<B: Bot>(address: &str) -> Result<(), Box<dyn Error>> {
    let channel = Endpoint::from_shared(address.to_owned())?.connect().await?;
    let mut client = Grpc::new(channel).max_decoding_message_size(usize::MAX);
    let (replies, requests) = mpsc::channel(1);
    replies.send(hello(B::MATCHES)).await?;
    client.ready().await?;
    let codec = ProstCodec::<PlayRequest, PlayResponse>::default();
    let requests = Request::new(ReceiverStream::new(requests));
    let mut frames = client
        .streaming(requests, PathAndQuery::from_static(METHOD), codec)
        .await?
        .into_inner();
    let mut table = Table::<B>::new(replies);
    while let Some(frame) = frames.message().await? {
        table.answer(&frame).await;
        if frame.goodbye.is_some() {
            break;
        }
    }
    Ok(())
}

/// What went wrong, in a line.
fn in_words(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<Status>() {
        Some(status) => status.message().to_owned(),
        None => format!("cannot be reached: {error}"),
    }
}

fn hello(matches: u32) -> PlayRequest {
    let hello = Hello {
        protocol: PROTOCOL,
        token: env::var("ARENA_TOKEN").unwrap_or_default(),
        matches,
        sdk: "tonic".into(),
        ..Hello::default()
    };
    PlayRequest {
        hello: Some(hello),
        choices: vec![],
    }
}

/// The matches that this process holds, each with a bot of its own.
struct Table<B> {
    bots: HashMap<u32, B>,
    replies: mpsc::Sender<PlayRequest>,
    /// How long a choice may be kept back, by the smallest limit of any match so far.
    piece: Duration,
}

impl<B: Bot> Table<B> {
    fn new(replies: mpsc::Sender<PlayRequest>) -> Self {
        Table {
            bots: HashMap::new(),
            replies,
            piece: Duration::MAX,
        }
    }

    /// Says every choice that `frame` asks for: in one frame, or, if they take long, in several.
    async fn answer(&mut self, frame: &PlayResponse) {
        let mut began = Instant::now();
        for start in &frame.starts {
            self.start(start);
        }
        for rejected in &frame.rejections {
            eprintln!("the referee rejected a choice: {}", rejected.reason);
        }
        let mut choices = Vec::with_capacity(frame.decisions.len());
        for decision in &frame.decisions {
            choices.push(self.choice(decision));
            if began.elapsed() >= self.piece {
                self.say(std::mem::take(&mut choices)).await;
                sleep(SENDING).await;
                began = Instant::now();
            }
        }
        if !choices.is_empty() {
            self.say(choices).await;
        }
        for end in &frame.ends {
            if let Some(bot) = self.bots.remove(&end.r#match) {
                bot.end(end);
            }
        }
    }

    async fn say(&self, choices: Vec<Choice>) {
        let reply = PlayRequest {
            hello: None,
            choices,
        };
        // A stream that is over says why when it is read.
        let _ = self.replies.send(reply).await;
    }

    fn start(&mut self, start: &MatchStart) {
        if let Some(limits) = start.limits
            && limits.decision_ms > 0
        {
            let limit = Duration::from_millis(limits.decision_ms.into());
            self.piece = self.piece.min(limit / PIECES);
        }
        self.bots.insert(start.r#match, B::start(start));
    }

    fn choice(&mut self, decision: &Decision) -> Choice {
        let bot = self.bots.get_mut(&decision.r#match).expect("a match begun");
        Choice {
            r#match: decision.r#match,
            decision: decision.decision,
            action: bot.choose(decision, &legal(decision)),
        }
    }
}

/// The actions, which travel as a range where they are one.
fn legal(decision: &Decision) -> Cow<'_, [u32]> {
    match decision.legal_count {
        0 => Cow::Borrowed(&decision.legal),
        count => (decision.legal_first..decision.legal_first + count).collect(),
    }
}
