//! Makes the messages of the protocol from `proto/`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    // protox is a protoc in Rust: nothing has to be installed.
    let files = protox::compile(["arena/v1/referee.proto"], ["proto"])?;
    prost_build::compile_fds(files)?;
    Ok(())
}
