//! `htm learning`, `htm feedback`, `htm ranking`.

use std::process::ExitCode;

use htm_core::{
    Feedback, FeedbackReceipt, Htm, Learning, LearningSettings, RankingChoice, RankingInfo, RankingWeight,
    Rankings, Trial, TrialKind, Zone,
};
use htm_runtime::commands::in_namespace;
use htm_runtime::config::Config;

use crate::args::{
    FeedbackArgs, LearningCommand, LearningOnArgs, RankingCommand, ShowRankingArgs, TryRankingArgs,
};
use crate::commands::runtime::{with_htm, within};
use crate::error::CliError;
use crate::output::{Output, count, one_line, plain, table};

pub(crate) async fn feedback(
    config: &Config,
    args: FeedbackArgs,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let feedback = Feedback { used: args.used, useless: args.useless };
    // Invalid input is rejected before a server is started for it.
    feedback.validate()?;
    let judge =
        async |htm: &Htm| within(htm, args.namespace.as_deref())?.feedback(&args.recall, &feedback).await;
    let receipt = with_htm(config, judge).await?;
    output.value(&receipt, || describe_receipt(&receipt));
    Ok(ExitCode::SUCCESS)
}

fn describe_receipt(receipt: &FeedbackReceipt) -> String {
    let mut text = format!(
        "{} used, {} useless; {}",
        receipt.used,
        receipt.useless,
        count(receipt.judged, "judged recall")
    );
    if !receipt.not_considered.is_empty() {
        let nodes: Vec<String> = receipt.not_considered.iter().map(ToString::to_string).collect();
        text.push_str(&format!("\nthe recall did not consider: {}", nodes.join(", ")));
    }
    if receipt.learns {
        text.push_str("\na learn-worker fits a ranking now: see `htm ranking list`");
    }
    text
}

pub(crate) async fn learning(
    config: &Config,
    command: LearningCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let state = match command {
        LearningCommand::Show(of) => {
            with_htm(config, async |htm| htm.learning(of.namespace.as_deref()).await).await?
        }
        LearningCommand::On(args) => with_htm(config, async |htm| switch_on(htm, &args).await).await?,
        LearningCommand::Export(of) => {
            let namespace = of.namespace.as_deref();
            let evidence = with_htm(config, async |htm| htm.learning_evidence(namespace).await).await?;
            for recall in &evidence.recalls {
                output.json(recall);
            }
            return Ok(ExitCode::SUCCESS);
        }
        LearningCommand::Off(of) => {
            let off = async |htm: &Htm| {
                let namespace = of.namespace.as_deref();
                let present = htm.learning(namespace).await?.settings;
                htm.set_learning(namespace, &LearningSettings { is_on: false, ..present }).await
            };
            with_htm(config, off).await?
        }
    };
    output.value(&state, || describe_learning(&state));
    Ok(ExitCode::SUCCESS)
}

async fn switch_on(htm: &Htm, args: &LearningOnArgs) -> htm_core::Result<Learning> {
    let namespace = args.of.namespace.as_deref();
    let present = htm.learning(namespace).await?.settings;
    let settings = LearningSettings {
        is_on: true,
        learns_with: args.with.clone().or(present.learns_with),
        keeps_text: args.keep_text.unwrap_or(present.keeps_text),
        keep_days: args.keep_days.unwrap_or(present.keep_days),
        least: args.least.unwrap_or(present.least),
        signals: match args.signals.is_empty() {
            true => present.signals,
            false => args.signals.iter().copied().flatten().collect(),
        },
    };
    htm.set_learning(namespace, &settings).await
}

fn describe_learning(state: &Learning) -> String {
    let settings = &state.settings;
    let mut lines = vec![format!(
        "learning of namespace {} is {}",
        plain(&state.namespace),
        if settings.is_on { "on" } else { "off" }
    )];
    lines.push(match state.version {
        0 => "its hits are ordered by the default ranking".into(),
        version => format!(
            "its hits are ordered by version {version}: `htm ranking show{}`",
            plain(&in_namespace(Some(&state.namespace)))
        ),
    });
    if let Some(home) = &settings.learns_with {
        lines.push(format!("it shares the ranking of {}", plain(home)));
    }
    if settings.is_on {
        let texts =
            if settings.keeps_text { "with the texts of queries" } else { "without texts of queries" };
        lines.push(format!(
            "judged recalls are kept for {}, {texts}; others for a day",
            count(settings.keep_days, "day")
        ));
        let signals: Vec<&str> = settings.signals.iter().map(|signal| <&str>::from(*signal)).collect();
        lines.push(match signals.is_empty() {
            true => "only explicit feedback counts".into(),
            false => format!("signals that count: {}", signals.join(", ")),
        });
        lines.push(format!(
            "{} kept; {} judged, a ranking is learnt at {}",
            count(state.kept, "recall"),
            state.judged,
            state.learns_at
        ));
    } else if state.kept > 0 {
        lines.push(format!("{} kept from before, until their time is over", count(state.kept, "recall")));
    }
    let mut text = lines.join("\n");
    if !state.authors.is_empty() {
        let row = |it: &htm_core::FeedbackAuthor| {
            let note = if it.only_refuses() { "only refuses: moves nothing" } else { "" };
            let (used, useless) = (it.used.to_string(), it.useless.to_string());
            vec![one_line(&it.author, 40), it.recalls.to_string(), used, useless, note.into()]
        };
        let rows = state.authors.iter().map(row).collect();
        let head = ["judged by", "recalls", "used", "useless", ""];
        text.push_str(&format!("\n\n{}", table(&head, &[1, 2, 3], rows)));
    }
    text
}

pub(crate) async fn ranking(
    config: &Config,
    command: RankingCommand,
    output: &Output,
) -> Result<ExitCode, CliError> {
    let zone = &config.time.settings().zone;
    let rankings = match command {
        RankingCommand::List(of) => {
            with_htm(config, async |htm| htm.rankings(of.namespace.as_deref()).await).await?
        }
        RankingCommand::Show(args) => {
            show(config, args, output, zone).await?;
            return Ok(ExitCode::SUCCESS);
        }
        RankingCommand::Compare(args) => {
            let namespace = args.of.namespace.as_deref();
            let compared =
                with_htm(config, async |htm| htm.compare_rankings(namespace, args.version).await).await?;
            output.value(&compared, || {
                // Without an interleaved trial, it is the verdict.
                let shadow = match compared.shadowed {
                    shadowed if shadowed == 0 || compared.by_chance.is_none() => String::new(),
                    shadowed => format!(
                        "in the shadow it would have changed {} of {}\n",
                        compared.differing,
                        count(shadowed, "recall")
                    ),
                };
                format!("{shadow}{}", compared.verdict)
            });
            return Ok(ExitCode::SUCCESS);
        }
        RankingCommand::Activate(args) => {
            let namespace = args.of.namespace.as_deref();
            with_htm(config, async |htm| htm.activate_ranking(namespace, args.version).await).await?
        }
        RankingCommand::Revert(of) => {
            with_htm(config, async |htm| htm.revert_ranking(of.namespace.as_deref()).await).await?
        }
        RankingCommand::Try(args) => {
            let trial = trial(&args);
            let namespace = args.of.namespace.as_deref();
            with_htm(config, async |htm| htm.try_ranking(namespace, trial).await).await?
        }
    };
    output.value(&rankings, || describe_rankings(&rankings, zone));
    Ok(ExitCode::SUCCESS)
}

fn trial(args: &TryRankingArgs) -> Option<Trial> {
    let kind = if args.shadow { TrialKind::Shadow } else { TrialKind::Interleaved };
    args.version.map(|version| Trial { version, kind })
}

async fn show(config: &Config, args: ShowRankingArgs, output: &Output, zone: &Zone) -> Result<(), CliError> {
    let namespace = args.of.namespace.as_deref();
    let find = async |htm: &Htm| {
        let version = match args.version {
            Some(version) => Some(version),
            None => {
                let known = htm.rankings(namespace).await?;
                let newest = known.rankings.first().map(|ranking| ranking.version);
                Some(known.active).filter(|active| *active != 0).or(newest)
            }
        };
        match version {
            Some(version) if version != 0 => htm.ranking(namespace, version).await.map(Some),
            _ => Ok(None),
        }
    };
    let found = with_htm(config, find).await?;
    output.value(&found, || match &found {
        Some(ranking) => describe_ranking(ranking, zone),
        None if args.version.is_some() => {
            "version 0 is the default ranking: nothing was learnt for it".into()
        }
        None => format!(
            "the default ranking is used; nothing has been learnt yet: see `htm learning show{}`",
            plain(&in_namespace(namespace))
        ),
    });
    Ok(())
}

fn describe_rankings(rankings: &Rankings, zone: &Zone) -> String {
    let mut text = match rankings.active {
        0 => format!("the default ranking (version 0) orders the hits of {}", plain(&rankings.namespace)),
        version => format!("version {version} orders the hits of {}", plain(&rankings.namespace)),
    };
    if let Some(Trial { version, kind }) = rankings.trial {
        text.push_str(&format!(
            "\nversion {version} is tried: {kind}; see `htm ranking compare {version}{}`",
            plain(&in_namespace(Some(&rankings.namespace)))
        ));
    }
    if !rankings.rankings.is_empty() {
        let row = |it: &RankingInfo| {
            vec![
                it.version.to_string(),
                if it.is_active { "used" } else { "" }.into(),
                zone.local(it.made_at).format("%Y-%m-%d %H:%M").to_string(),
                it.figures.judged.to_string(),
                gain(it),
                one_line(it.unusable.as_deref().unwrap_or(&it.reason), 80),
            ]
        };
        let head = ["version", "", "learnt", "from", "gain (nDCG@10)", "why"];
        let rows = rankings.rankings.iter().map(row).collect();
        text.push_str(&format!("\n\n{}", table(&head, &[0, 3], rows)));
    }
    if !rankings.choices.is_empty() {
        let row = |it: &RankingChoice| {
            vec![
                zone.local(it.chosen_at).format("%Y-%m-%d %H:%M").to_string(),
                format!("{} → {}", it.former, it.version),
                one_line(&it.chosen_by, 30),
                one_line(&it.reason, 80),
            ]
        };
        let head = ["changed", "version", "by", "why"];
        let rows = rankings.choices.iter().map(row).collect();
        text.push_str(&format!("\n\n{}", table(&head, &[], rows)));
    }
    text
}

fn gain(ranking: &RankingInfo) -> String {
    let figures = &ranking.figures;
    match figures.tested_on {
        0 => "–".into(),
        _ => format!(
            "{:+.3} ({:+.3} to {:+.3})",
            figures.ndcg - figures.ndcg_default,
            figures.gain_low,
            figures.gain_high
        ),
    }
}

fn describe_ranking(ranking: &RankingInfo, zone: &Zone) -> String {
    let figures = &ranking.figures;
    let mut lines = vec![
        format!(
            "version {} of namespace {}, learnt {}; {}",
            ranking.version,
            plain(&ranking.namespace),
            zone.local(ranking.made_at).format("%Y-%m-%d %H:%M"),
            if ranking.is_active { "it orders the hits" } else { "it is not used" }
        ),
        format!(
            "learnt from {} in {} by {}",
            count(i64::from(figures.judged), "judged recall"),
            count(i64::from(figures.blocks), "block"),
            count(i64::from(figures.authors), "author")
        ),
    ];
    if figures.tested_on > 0 {
        lines.push(format!(
            "on {} that it was not fitted to, compared with the default ranking:",
            count(i64::from(figures.tested_on), "recall")
        ));
        lines.push(format!(
            "  the order (nDCG@10) {:.3} → {:.3}; with {:.0} % confidence the gain is {:+.3} to {:+.3}",
            figures.ndcg_default,
            figures.ndcg,
            100.0 * figures.confidence,
            figures.gain_low,
            figures.gain_high
        ));
        // Where hits alone are judged, all that was used is among the first ten of the default.
        let bound =
            if figures.recall_default > 0.999 { "; it cannot rise, as only hits were judged" } else { "" };
        lines.push(format!(
            "  what was used is among the first ten (recall@10) {:.3} → {:.3}{bound}",
            figures.recall_default, figures.recall
        ));
    }
    lines.push(one_line(&ranking.reason, 200));
    if let Some(why) = &ranking.unusable {
        lines.push(format!("it cannot be used: {why}; the default ranking stands in"));
    }
    if ranking.trees > 0 {
        lines.push(format!("{} correct the weighted sum", count(ranking.trees, "tree")));
    }
    let row = |it: &RankingWeight| {
        vec![
            it.feature.replace('_', " "),
            format!("{:.2}", it.by_default),
            format!("{:.2}", it.weight),
            it.about.into(),
        ]
    };
    let rows: Vec<Vec<String>> = ranking.weights.iter().map(row).collect();
    if !rows.is_empty() {
        lines.push(format!("\n{}", table(&["counts", "by default", "here", "what it is"], &[1, 2], rows)));
    }
    lines.join("\n")
}

/// The weights of a ranking in words, those that were moved most first.
pub(crate) fn in_words(weights: &[RankingWeight]) -> String {
    let told = weights.iter().take(6).map(|it| {
        format!("{} counts {:.2} ({:.2} by default)", it.feature.replace('_', " "), it.weight, it.by_default)
    });
    told.collect::<Vec<_>>().join(", ")
}
