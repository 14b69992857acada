//! One file per command.

pub mod contracts;
pub mod explore;
pub mod hoist;
pub mod infer;
mod kept;
pub mod libc;
pub mod reach;
pub mod replay;
pub mod run;
pub mod sandbox;
mod settings;
pub mod show;
pub mod test;
pub mod trace;

use crate::NOTHING;
use crate::arguments::{Command, ContractsCommand, TraceCommand};

/// Does what the command line says; gives the exit status, or what went wrong.
pub fn carry_out(command: Command) -> Result<u8, String> {
    match command {
        // Normally taken before the words are looked at.
        Command::Cc { .. } => Err("the first word must be cc: nearmiss cc …".into()),
        Command::Run(arguments) => run::run(arguments),
        Command::Test(arguments) => test::test(arguments),
        Command::Explore(arguments) => explore::explore(&arguments),
        Command::Infer(arguments) => infer::infer(&arguments),
        Command::Hoist(arguments) => hoist::hoist(&arguments),
        Command::Contracts(ContractsCommand::Check(arguments)) => contracts::check(&arguments),
        Command::Reach(arguments) => reach::reach(*arguments),
        Command::Show {
            id: Some(id),
            as_test: true,
            framework,
            campaign,
            ..
        } => show::as_test(&id, framework, &campaign.dir).map(|()| NOTHING),
        Command::Show {
            id,
            explored,
            campaign,
            ..
        } => show::show(id.as_deref(), &explored, &campaign.dir).map(|()| NOTHING),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Report {
            format,
            statistics,
            function,
            all,
            campaign,
        } => match (statistics, function) {
            (Some(table), _) => show::statistics(table, &campaign.dir),
            (None, Some(function)) => explore::show(&function, format, all, &campaign.dir),
            (None, None) => show::report(format, &campaign.dir),
        }
        .map(|()| NOTHING),
        Command::Libc { format, header } => libc::list(format, header.as_deref()).map(|()| NOTHING),
        Command::Sandbox => sandbox::check().map(|()| NOTHING),
        Command::Trace(TraceCommand::Dump { file }) => trace::dump(&file).map(|()| NOTHING),
    }
}
