//! The error codes of sources.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    SOURCE_UNKNOWN "source_unknown" User "HTM imports from no system of this name."
        => "use one of the names that `htm import --help` lists after --from";
    SOURCE_UNREADABLE "source_unreadable" User "A source cannot be opened or read."
        => "check the location, and who may read it";
    SOURCE_UNRECOGNISED "source_unrecognised" User "The location has no data of the named system."
        => "name the system that made it with --from, or the place of its data; docs/coming-from.md says what each expects";
    SOURCE_MODEL_UNFIT "source_model_unfit" User "The vectors of a source are not those of the named model."
        => "name the model that made them with --model, or leave --model out: then workers make new vectors";
    SOURCE_DAMAGED "source_damaged" User "A file of a source is cut or invalid."
        => "export it again and repeat the import: what is there already is skipped";
}
