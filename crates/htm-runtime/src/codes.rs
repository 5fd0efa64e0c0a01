//! The error codes of the runtime: configuration, files, private PostgreSQL, schema, process.

use htm_core::error::Code;
use htm_core::fault::Fault;

htm_core::error_codes! {
    // The configuration
    CONFIG_UNKNOWN_KEY "config_unknown_key" User "No configuration key has this name."
        => "`htm config default` prints every key";
    CONFIG_BAD_VALUE "config_bad_value" User "A configuration value has the wrong type, or is out of range."
        => "change it where it is set; `htm config explain KEY` says what it does";
    CONFIG_UNREADABLE "config_unreadable" User "A file or a variable cannot be read as configuration."
        => "correct it: it must be valid TOML";
    CONFIG_UNTRUSTED "config_untrusted" User "An untrusted project file sets a guarded key."
        => "read the file, then run `htm config trust`; or remove these keys from it";
    CONFIG_KEY_ELSEWHERE "config_key_elsewhere" User "A key would be sent to a URL from a less trusted place."
        => "set the URL where the key is set, or unset one of the two";
    CONFIG_IO "config_io" User "A file of the configuration cannot be read or written."
        => "check that it exists and who may read it";
    PATHS_NO_HOME "paths_no_home" Permanent "There is no home directory for HTM's files."
        => "set HTM_HOME to a directory that HTM may write to";
    TELEMETRY_BAD_FILTER "telemetry_bad_filter" User "RUST_LOG is not a valid filter."
        => "set RUST_LOG to a level or to directives, such as `info` or `htm_core=debug,sqlx=warn`";
    TELEMETRY_ALREADY_STARTED "telemetry_already_started" Bug "Logging was started twice in one process."
        => "start logging once, at the process's start";
    TRACES_UNUSABLE "traces_unusable" User "Traces cannot be exported to log.otlp_endpoint."
        => "give the URL of an OpenTelemetry collector for OTLP over HTTP, such as http://localhost:4318";
    PROVIDER_SETTINGS_PROMPT "provider_settings_prompt" Permanent "A file with a system prompt cannot be read, or is empty."
        => "set `tag.prompt` or `expansion.prompt` to a text file, such as a copy of one in config/prompts, or to nothing";
    EMBEDDER_UNUSABLE "embedder_unusable" Permanent "The embedder of a model cannot be made with these settings."
        => "correct the settings of its provider: `htm config show`";

    // Models of a hub
    HUB_REPOSITORY_INVALID "hub_repository_invalid" User "A text is not the name of a model of the hub."
        => "write it as OWNER/NAME, such as BAAI/bge-small-en-v1.5; `htm models list --known` has names";
    HUB_ENDPOINT_INVALID "hub_endpoint_invalid" User "The address or the token of the hub cannot be used."
        => "give an http or https URL with --endpoint or HF_ENDPOINT, and a token in HF_TOKEN if the hub wants one";
    HUB_NOT_FOUND "hub_not_found" User "The hub has no such model or revision."
        => "check the name and the revision; a private model is not shown without HF_TOKEN";
    HUB_FORBIDDEN "hub_forbidden" User "The hub does not give the model to the caller."
        => "check the name, accept the model's terms on its page, and set HF_TOKEN to a token that may read it";
    HUB_UNREACHABLE "hub_unreachable" Transient "The hub, or the server of its files, does not answer."
        => "pull again: what has come is kept; HF_ENDPOINT names another hub, and HTTPS_PROXY a proxy";
    HUB_ANSWER_INVALID "hub_answer_invalid" Permanent "The server did not answer like a model hub."
        => "check --endpoint or HF_ENDPOINT";
    HUB_MODEL_UNFIT "hub_model_unfit" User "HTM cannot run the model."
        => "choose a model of `htm models list --known`, or serve this one by Ollama or a server of OpenAI's API";
    HUB_FILE_DAMAGED "hub_file_damaged" Transient "A file came with other content than the hub states."
        => "pull again: the other files are kept";
    HUB_NAME_TAKEN "hub_name_taken" User "Another model, or another commit of it, has the name."
        => "give another name: `htm models pull OWNER/NAME --name OTHER`";
    HUB_BUSY "hub_busy" Transient "Another process pulls the same model."
        => "wait until it has ended";
    HUB_IO "hub_io" Permanent "A file of a model cannot be read or written."
        => "check who may write to the models below HTM_HOME, and that the disk is not full";

    // The private PostgreSQL
    PRIVATE_PG_NO_BINARIES "private_pg_no_binaries" Permanent "No PostgreSQL with pgvector was found."
        => "run `./justw setup`, or set database.url to a running PostgreSQL";
    PRIVATE_PG_BAD_INSTALLATION "private_pg_bad_installation" Permanent "The PostgreSQL that was named or found cannot be used."
        => "run `./justw setup` and unset HTM_POSTGRES_HOME, or install what is missing";
    PRIVATE_PG_OTHER_MAJOR "private_pg_other_major" Permanent "The cluster was made by another major version of PostgreSQL."
        => "bring the cluster to a newer version: `htm db upgrade`; or set HTM_POSTGRES_HOME to a PostgreSQL of its version";
    PRIVATE_PG_NO_OLD_PROGRAMS "private_pg_no_old_programs" Permanent "The programs of the cluster's own version, which its upgrade needs, were not found."
        => "install that version with pgvector, and name the directory above its `bin`: `htm db upgrade --old-home DIR`";
    PRIVATE_PG_NO_SPACE "private_pg_no_space" Permanent "The disk has too little room for an upgrade, which makes a second cluster."
        => "make room, and upgrade again; the cluster is as it was";
    PRIVATE_PG_UPGRADE_FAILED "private_pg_upgrade_failed" Permanent "The new cluster of an upgrade could not be made."
        => "read what the program says, correct that, and upgrade again; or go another way: `htm db upgrade --dump`; the cluster \
            is as it was";
    PRIVATE_PG_UPGRADE_DIFFERS "private_pg_upgrade_differs" Permanent "The new cluster of an upgrade has other rows than the old one."
        => "upgrade again, or go another way: `htm db upgrade --dump`; the cluster is as it was";
    PRIVATE_PG_NOT_A_CLUSTER "private_pg_not_a_cluster" Permanent "The data directory is not empty and holds no cluster."
        => "move its files elsewhere, or set HTM_DATA_DIR to another directory";
    PRIVATE_PG_NO_SERVER_USER "private_pg_no_server_user" Permanent "PostgreSQL does not run as root, and there is no other user for it."
        => "create a user for it: `useradd --system --shell /usr/sbin/nologin postgres`; or run htm as another user than root";
    PRIVATE_PG_NO_USER_NAME "private_pg_no_user_name" Permanent "The user id of the process has no name."
        => "give it a name in /etc/passwd, or run htm as another user";
    PRIVATE_PG_UNSAFE_PATH "private_pg_unsafe_path" Permanent "Another user could have placed or changed a file that the process would use."
        => "find out who put it there, and remove it; as root, HTM_HOME and HTM_DATA_DIR must be directories that only root \
            may write to, and so must be those above them";
    PRIVATE_PG_UNREACHABLE "private_pg_unreachable" Permanent "PostgreSQL's user cannot enter a directory."
        => "use a directory that others can reach, such as /var/lib/htm for HTM_HOME or /opt/htm for a Python environment";
    PRIVATE_PG_SOCKET_DIR_TAKEN "private_pg_socket_dir_taken" Permanent "The socket's directory belongs to another user."
        => "find out whose it is, and remove it; or set HTM_HOME, or HTM_DATA_DIR, to another path";
    PRIVATE_PG_BUSY "private_pg_busy" Transient "Another process takes too long to start or stop the server."
        => "try again; if the error stays, look for a hanging `htm` or `pg_ctl`";
    PRIVATE_PG_PROGRAM_FAILED "private_pg_program_failed" Permanent "A program of PostgreSQL failed."
        => "read the server's log: server.log in the data directory of `htm db status`";
    PRIVATE_PG_IO "private_pg_io" Permanent "The file system rejected an operation for the private PostgreSQL."
        => "check that the directory may be written to and that the disk is not full";

    // The schema
    BACKUP_EXISTS "backup_exists" User "The directory of the backup exists."
        => "name a directory that is not there yet";
    BACKUP_INVALID "backup_invalid" User "A directory holds no whole backup."
        => "name a directory that `htm db backup` made";
    BACKUP_PROGRAMS_MISSING "backup_programs_missing" Permanent "PostgreSQL's programs for backups cannot be run."
        => "run `./justw setup`, or install the client programs of the server's version, or of a newer one";
    BACKUP_FAILED "backup_failed" Permanent "PostgreSQL's program for backups failed."
        => "correct what it says; if pg_dump is older than the server, install the server's version";
    BACKUP_DIFFERS "backup_differs" Permanent "The restored database has other rows than the backup."
        => "check that nobody writes there, and restore again; keep the backup";
    BACKUP_IO "backup_io" Permanent "A file of a backup cannot be read or written."
        => "check who may write there, and that the disk is not full";
    DATABASE_NOT_EMPTY "database_not_empty" User "A backup is restored into an empty database only."
        => "name another database; or delete everything in this one: `htm db reset --yes`";
    RESTORE_INCOMPLETE "restore_incomplete" Permanent "A backup was not restored to its end: the database is not whole."
        => "restore it again: `htm db restore DIRECTORY`; or delete what is there: `htm db reset --yes`";
    SCHEMA_VERSION "schema_version" Permanent "The database has no HTM schema, or an older or a newer one."
        => "run `htm db migrate`";
    EXTENSION_MISSING "extension_missing" Permanent "PostgreSQL lacks an extension, or has too old a version of it, or has it outside of the schema public."
        => "install the extension on the server, then run `htm db migrate`";
    ROLE_MISSING "role_missing" Permanent "The server has no role of this name."
        => "create the role, then run `htm db migrate --application-role ROLE` again";
    SERVER_TOO_OLD "server_too_old" Permanent "The server is older than PostgreSQL 15."
        => "point database.url at PostgreSQL 15 or later, or unset it to use HTM's private PostgreSQL";
    MIGRATION_FAILED "migration_failed" Permanent "The database rejected a migration."
        => "check that the role may create schemas and extensions (pgvector's takes a superuser, once: `create extension \
            vector`), then run `htm db migrate` again";
    PARTITIONS_INVALID "partitions_invalid" User "The number of partitions is too large."
        => "choose up to 1024 partitions; 0 is one table";
    LAYOUT_OTHER "layout_other" User "The database already has memories, in a different number of partitions."
        => "change the number while programs write: `htm db repartition --partitions N`";
    LAYOUT_CHANGING "layout_changing" User "A change to another number of partitions is not complete."
        => "go on with it: `htm db repartition --partitions N`; or end it: `htm db repartition --abandon`";

    // The process
    SIGNALS_UNAVAILABLE "signals_unavailable" Permanent "The process cannot listen to SIGINT and SIGTERM."
        => "check the process's limits: a worker without signals cannot stop cleanly";
    ADDRESS_IN_USE "address_in_use" Permanent "Another process listens on the address."
        => "another process has the port, maybe another worker: give each its own with `--listen` (port 0: any free port)";
    ADDRESS_UNUSABLE "address_unusable" Permanent "The address cannot be listened on."
        => "give `--listen` an address of this machine, and a port that this user may take (1024 or higher)";
    LEARNING_FAILED "learning_failed" Bug "Learning a ranking failed."
        => "the namespace keeps its ranking; report the message, and retry with `htm jobs retry`";
    LEARNING_TIMEOUT "learning_timeout" Transient "Learning a ranking took longer than ten minutes."
        => "the namespace keeps its ranking, and the job is tried again; give the worker a CPU of its own, then `htm jobs retry`";
    WORKER_ENDED "worker_ended" Bug "A worker ended by itself."
        => "start it again, as systemd or Kubernetes does; other workers take over its jobs. If it ends again, run `htm doctor`";
}
