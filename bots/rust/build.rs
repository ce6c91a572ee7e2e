//! Makes the messages and the client of the protocol from `proto/`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto");
    // protox is a protoc in Rust: nothing has to be installed.
    let files = protox::compile(["arena/v1/referee.proto"], ["proto"])?;
    tonic_prost_build::configure()
        .build_server(false)
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}
