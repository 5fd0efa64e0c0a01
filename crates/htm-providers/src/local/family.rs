//! The supported families of encoders, and their differences.

/// A family of encoders. They differ from BERT in names, positions, token types and the bias of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// BERT, and with it MiniLM, BGE, E5 (v2, English) and GTE.
    Bert,
    /// BERT without token types (Sanh et al. 2019, arXiv 1910.01108).
    DistilBert,
    /// BERT with a bias of attention by the distance of two tokens (Song et al. 2020, arXiv 2004.09297).
    Mpnet,
    /// RoBERTa and XLM-RoBERTa, and with them multilingual E5.
    Roberta,
}

/// The names of a layer's tensors.
pub(super) struct LayerNames {
    pub(super) query: &'static str,
    pub(super) key: &'static str,
    pub(super) value: &'static str,
    pub(super) dense: &'static str,
    pub(super) attention_norm: &'static str,
    pub(super) up: &'static str,
    pub(super) down: &'static str,
    pub(super) output_norm: &'static str,
}

impl Family {
    /// Every `model_type` that [`of_model_type`](Self::of_model_type) knows.
    pub(super) const MODEL_TYPES: &'static str = "bert, distilbert, mpnet, roberta, xlm-roberta, camembert";

    /// The first entries of `architectures` that [`of_architecture`](Self::of_architecture) knows.
    pub(super) const ARCHITECTURES: &'static str =
        "BertModel, DistilBertModel, MPNetModel, RobertaModel, XLMRobertaModel, CamembertModel";

    /// The family of a `model_type`.
    pub(super) fn of_model_type(word: &str) -> Option<Self> {
        match word {
            "bert" => Some(Self::Bert),
            "distilbert" => Some(Self::DistilBert),
            "mpnet" => Some(Self::Mpnet),
            "roberta" | "xlm-roberta" | "camembert" => Some(Self::Roberta),
            _ => None,
        }
    }

    /// The family of an architecture, with any head: `BertModel`, `BertForMaskedLM`.
    pub(super) fn of_architecture(name: &str) -> Option<Self> {
        let encoder =
            name.split_once("For").map_or_else(|| name.strip_suffix("Model"), |(front, _)| Some(front));
        match encoder? {
            "Bert" => Some(Self::Bert),
            "DistilBert" => Some(Self::DistilBert),
            "MPNet" => Some(Self::Mpnet),
            "Roberta" | "XLMRoberta" | "Camembert" => Some(Self::Roberta),
            _ => None,
        }
    }

    /// The usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bert => "BERT",
            Self::DistilBert => "DistilBERT",
            Self::Mpnet => "MPNet",
            Self::Roberta => "RoBERTa",
        }
    }

    /// The prefix of the encoder's tensors in a file with more than the encoder.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert.",
            Self::DistilBert => "distilbert.",
            Self::Mpnet => "mpnet.",
            Self::Roberta => "roberta.",
        }
    }

    /// The row of the first token in the position table. RoBERTa and MPNet begin after the padding's id.
    pub(super) fn first_position(self, padding: Option<usize>) -> usize {
        match self {
            Self::Bert | Self::DistilBert => 0,
            // MPNet's code uses the id 1, whatever the file says.
            Self::Mpnet => 2,
            Self::Roberta => padding.unwrap_or(1).saturating_add(1),
        }
    }

    /// Whether each token has a type, which tells the first text from the second.
    pub(super) fn has_token_types(self) -> bool {
        matches!(self, Self::Bert | Self::Roberta)
    }

    /// The prefix of a layer's number.
    pub(super) fn layers(self) -> &'static str {
        match self {
            Self::DistilBert => "transformer.layer",
            _ => "encoder.layer",
        }
    }

    /// The names of a layer's tensors.
    pub(super) fn layer_names(self) -> LayerNames {
        match self {
            Self::Bert | Self::Roberta => LayerNames {
                query: "attention.self.query",
                key: "attention.self.key",
                value: "attention.self.value",
                dense: "attention.output.dense",
                attention_norm: "attention.output.LayerNorm",
                up: "intermediate.dense",
                down: "output.dense",
                output_norm: "output.LayerNorm",
            },
            Self::Mpnet => LayerNames {
                query: "attention.attn.q",
                key: "attention.attn.k",
                value: "attention.attn.v",
                dense: "attention.attn.o",
                attention_norm: "attention.LayerNorm",
                up: "intermediate.dense",
                down: "output.dense",
                output_norm: "output.LayerNorm",
            },
            Self::DistilBert => LayerNames {
                query: "attention.q_lin",
                key: "attention.k_lin",
                value: "attention.v_lin",
                dense: "attention.out_lin",
                attention_norm: "sa_layer_norm",
                up: "ffn.lin1",
                down: "ffn.lin2",
                output_norm: "output_layer_norm",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_that_is_offered_is_known() {
        assert!(Family::MODEL_TYPES.split(", ").all(|word| Family::of_model_type(word).is_some()));
        assert!(Family::ARCHITECTURES.split(", ").all(|word| Family::of_architecture(word).is_some()));
        assert_eq!(Family::of_architecture("BertForSequenceClassification"), Some(Family::Bert));
        assert_eq!(Family::of_architecture("T5EncoderModel"), None);
    }
}
