//! The migrations of both databases, embedded in the binary.
//!
//! A migration that was released never changes: the database keeps the SHA-384 of each applied file, and sqlx refuses
//! a file with another one. sqlx has a macro that embeds a directory; it would build both database drivers a second
//! time, for the compiler.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// A migration file: its name without the ending, and its statements.
type Source = (&'static str, &'static str);

/// The migration files of a database, in their order.
macro_rules! sources {
    ($database:literal) => {
        sources!(
            $database,
            "0001_rules",
            "0002_service",
            "0003_deliveries",
            "0004_resolvers",
            "0005_quotas_and_denials",
            "0006_operator",
            "0007_key_domains",
            "0008_registered_names",
            "0009_owners",
            "0010_gates",
            "0011_history",
            "0012_changes",
            "0013_entities",
            "0014_denials",
            "0015_plan_sizes",
            "0016_policy_names",
            "0017_role_owners",
            "0018_audit_details",
            "0019_sync_sizes",
            "0020_types",
            "0021_relations",
            "0022_history",
            "0023_decision_files",
            "0024_drafts",
            "0025_shadows",
            "0026_record_answers",
            "0027_decision_work",
            "0028_erased_deliveries",
            "0029_roles_format",
            "0030_draft_modes",
            "0031_plan_indexes",
            "0033_console",
        )
    };
    ($database:literal, $($name:literal,)+) => {
        [$(($name, include_str!(concat!("../migrations/", $database, "/", $name, ".sql")))),+]
    };
}

const SQLITE: [Source; 32] = sources!("sqlite");
const POSTGRES: [Source; 32] = sources!("postgres");

/// Returns the migrations of SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(&SQLITE)
}

/// Returns the migrations of PostgreSQL.
pub(crate) fn postgres() -> Migrator {
    migrator(&POSTGRES)
}

fn migrator(sources: &[Source]) -> Migrator {
    let migrations = sources.iter().filter_map(|&(name, sql)| {
        let (version, description) = name.split_once('_')?;
        let (kind, sql) = (MigrationType::Simple, sql.into_sql_str());
        // Each migration runs in a transaction.
        Some(Migration::new(version.parse().ok()?, description.into(), kind, sql, false))
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod upgrade_tests;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The SHA-384 of each file, as databases in use keep them.
    const RELEASED: [(&str, &str); 64] = [
        (
            "postgres/0001_rules.sql",
            "d0bed76caea829d4825d9c00d729cd98824c4fef457b37094ac4be0da3865ddf2a2b969d4b912b2ba1292046ab2c41d0",
        ),
        (
            "postgres/0002_service.sql",
            "fc98e8463d69c08d9c4614f4940a64fe7382cc93faa6165edf8b0d4d66ea2c5616664d6c60bb9ce6f3c5c07b25585ce0",
        ),
        (
            "postgres/0003_deliveries.sql",
            "9c69a0a121ad647bbf19e93f28b8b09aac39b302ae3abe63b346c406ab47f37a369547f3ddaded99ce8c1cb6957777e9",
        ),
        (
            "postgres/0004_resolvers.sql",
            "39ac5f87dbff77bd0cdc46878e8d63531fc192fbca9caa9fdab2ebb3abae046016bf005222bab26740c7e838254c81b1",
        ),
        (
            "postgres/0005_quotas_and_denials.sql",
            "05593bcccf4f1fd5b07765752ca13917f04cd7556cc52c02f7248666911047d5c8edb9548ae54db4f4402a69983f4b77",
        ),
        (
            "postgres/0006_operator.sql",
            "41d21efcb42210cd67642e0d8db209781710d32fc87a8e8af4710184e94644153dcee1a77bd95e13c9263856e403be4d",
        ),
        (
            "postgres/0007_key_domains.sql",
            "9f8bfd5dcf306e460a2afb8745745916f2b0265b62f58de9c73f45e2ef68b64bb3bcbe52d4dad57e06481970cb1c806d",
        ),
        (
            "postgres/0008_registered_names.sql",
            "2b21540ce518aa87c4619b3a6698f063050042bfb523df6379a97b104f79468e3644ee22c9411a4f0179177121198bc6",
        ),
        (
            "postgres/0009_owners.sql",
            "a3cd0b82ec64dd7b0bb7618daaf14bca84a952a7ff7165bc13e30210eb3df3f3d2975a828d8eb637a0d07237b98b74c9",
        ),
        (
            "postgres/0010_gates.sql",
            "449b7d4c66d4f601b02c77a1d0b13c69c13793ae3a10094a877058a702a18573b1b190f126e6fb24e8d89d997c73d01e",
        ),
        (
            "postgres/0011_history.sql",
            "98b2388769b2789b4b65025affdffb82bb9b08ce96897f4f34f7f66bcaa3825c48d7cb603542fe32c37c8e7bea9d2620",
        ),
        (
            "postgres/0012_changes.sql",
            "bfae941392eb0bb87ec25912573fb9477fa0b9fe06529d4c2d65402c2bab0c264ea678b0d5cb2f42ce7b575abc8177cc",
        ),
        (
            "postgres/0013_entities.sql",
            "006f379ed0024779217dda8db2bdcd1fe71d6d1576a5731ea0da7a214e81159bc24dd1f459747bb96ffe11e8dc451e09",
        ),
        (
            "postgres/0014_denials.sql",
            "f5e4792cc4660d421354d69c0e6a63a579d740bf4922465313dac2f32705bb60c7f1b75480a1f468248d0e47d84b97c6",
        ),
        (
            "postgres/0015_plan_sizes.sql",
            "511d50983c8fa20ed48310e9c6b9cb7c9053944bea64b8a08dc128fa68042056c3b2b7f704706ef425700fbc7d5f7014",
        ),
        (
            "postgres/0016_policy_names.sql",
            "3639301976e1f409a72d81764f50af67cecc7c553d54098277d0b5e12b7dea702076849bcb69ba4111843c02360eba93",
        ),
        (
            "postgres/0017_role_owners.sql",
            "28a1832d3fbdf6c83a11ab95ef5f00338df155f803a97f287bf6576b7523d3af220b18c5f189782a0e71fd7b6f8b672f",
        ),
        (
            "postgres/0018_audit_details.sql",
            "ddf606ffca4693bed413fd6772c5583f80ac95e39df57a44db8f5e5ead3f41d8321c4a71444fd19ebc790836ffe5f0a8",
        ),
        (
            "postgres/0019_sync_sizes.sql",
            "9b7d6a6f32437556754728820b995698c15a7217f2b05fc2d71ed1e5cac52275bd5231ea7fc7b02774634e40b6c86969",
        ),
        (
            "postgres/0020_types.sql",
            "3988d1170dc1f234967f8c7854dba325b665370c7d9a203269172c4e0a4b81bce295468b603f935d114d01b607ea1a1f",
        ),
        (
            "postgres/0021_relations.sql",
            "f931af98efad68f44e707b61bb168604718b6fce0a06712ae10d9c02de905f502f4468774a42501e3e06aa818c86d29b",
        ),
        (
            "postgres/0022_history.sql",
            "0c40f5f31a5aaac9460df07e0d161f7094c31906e5ffdd734d926a48203f3307900206d29e991ff20c2386a55c1c881d",
        ),
        (
            "postgres/0023_decision_files.sql",
            "5a8ee6c8640af33969753030f82bbb21c4087f111499e9dc2afa326ec4003c0c38d3407b5c5b4d9a20bb119da7ddf029",
        ),
        (
            "postgres/0024_drafts.sql",
            "40c41a32165b3aec94efe7caddf94712dfa8da7e529c964f4f5391fb659624c52b068a4ca4a007b28deb65c315d2f122",
        ),
        (
            "postgres/0025_shadows.sql",
            "f151f9e29c9434baf147484335d2d9a9cd6ff7d240f245a0f8ee81e057c60613c4823a273af53321951993af46e6134a",
        ),
        (
            "postgres/0026_record_answers.sql",
            "e746c19487e37c280ad5e395ce97159b3ee5faa560eabc2d839c910f91450c2f1fc7d16a5480a8674b0f007907f631ff",
        ),
        (
            "postgres/0027_decision_work.sql",
            "9293c9dd0059f5d81bb34d0963c7bc23412b197eb8ae4a1efb1feb96ea3db5fca9e9ed0ef7f4933a3d4277f3f59a4f35",
        ),
        (
            "postgres/0028_erased_deliveries.sql",
            "47a29ba21c0d380d528fe3d7bd9ffb95441a84dee6025c5c916abdb71ecb2c9768e2849770f0ced479ca07efad8fcf40",
        ),
        (
            "postgres/0029_roles_format.sql",
            "8cba8d767cf257b4b92a886fb6f6e28c68750ba36bbf57a627500e25c6a30936eadfd90b3736d567a7c645dc845b2268",
        ),
        (
            "postgres/0030_draft_modes.sql",
            "f46647f7c6f2a4e104e425efec9271aadbce6ba0806a6840623fcf477f52ae0bd1effc8610470a8e269311405bb6be4d",
        ),
        (
            "postgres/0031_plan_indexes.sql",
            "52ec1994c7078ff64100420cba77edafe5814321f4f9950ed72aea2ce6a9f85bf00b8e0ec3af46d3eef7661d9c27f5ea",
        ),
        (
            "postgres/0033_console.sql",
            "6f40b7c62d9ad8755a0d84b6f071f3eca4ae26c22f3c5042d359f449b4e865fc978d78ac1971dac76e9d22ad5c5484c1",
        ),
        (
            "sqlite/0001_rules.sql",
            "b4a73233a9956d6a07c31e9aa453c3f19c2ffc1fc0854640299a5859ef6938983e5a375a1e4f6b4f7dd113359df133cb",
        ),
        (
            "sqlite/0002_service.sql",
            "963374e05fec14676c3620645e4ef437b03525908720c1af43f8321085d32f1127a51bff5ff04ddfd0cb93e5d61528b3",
        ),
        (
            "sqlite/0003_deliveries.sql",
            "3584c8fdc18107454df183affddceef7cad60abb8a0e978f3e33655cbfb9e128156bc5caa1f8b3d3c19284e121968c16",
        ),
        (
            "sqlite/0004_resolvers.sql",
            "c6a2f31c55d91f1ac7d097cefc0dc7a0cba515c5e59f9d7d97e3961b3a3e52521be95bf700b1141a305b95dad97decfc",
        ),
        (
            "sqlite/0005_quotas_and_denials.sql",
            "97b6a51a4beb6ff3181502f915a0c36d7be905132f107bc0e504bb7defa3e2387730bccd17ea7b2e3d154a4baaf34170",
        ),
        (
            "sqlite/0006_operator.sql",
            "a6f2501d4ccb8c8945021c668fcfc38583bf5dff85f115da4fa58a46873e23b5aa89b1f3947e825758a74c59f456d9bb",
        ),
        (
            "sqlite/0007_key_domains.sql",
            "9f8bfd5dcf306e460a2afb8745745916f2b0265b62f58de9c73f45e2ef68b64bb3bcbe52d4dad57e06481970cb1c806d",
        ),
        (
            "sqlite/0008_registered_names.sql",
            "a7c75d1d3a6f0dcd192a9cd1812581e7cabc8d6f400bfab6023de914dc45173ba9208062c34f105e6a23c3e62fd880cc",
        ),
        (
            "sqlite/0009_owners.sql",
            "78254ccac36978b2806595da4f4c728f57d7e6a263b059b555936713f37f4a2e6986fd66ce38220e8daa57d46e17bfa3",
        ),
        (
            "sqlite/0010_gates.sql",
            "b51362480b202cb9413f53ef82c0f29a74b8a76878f2771ca412a39e4e9c48765ef9b121b48b0234827150d23760ef85",
        ),
        (
            "sqlite/0011_history.sql",
            "194a7adc27cda1d91cf03a8e2908f2ebbf046625ce8a3270f07ffdc9c9fc1afd3e6fd83bab220c41de78d75134186eea",
        ),
        (
            "sqlite/0012_changes.sql",
            "4ff4b73c6cb3755816f8cd6b5441b13470d61dd484027dd92b64ba3ea239d262e5b34cc165c63b07a718b8e70b26abc1",
        ),
        (
            "sqlite/0013_entities.sql",
            "66c8083daf12b450e71457cf167f720e66fb066a53d022a3c1f6612d7e8095d358534a3b8bec31ce2f5b81f0b49e3fff",
        ),
        (
            "sqlite/0014_denials.sql",
            "edd70c3f827303bceb3cdab51bc321746b0f9305e847b6ec647ffc8f48e77379793b17a505183f0ab743897cfb67523d",
        ),
        (
            "sqlite/0015_plan_sizes.sql",
            "a78851b4e4646b9e242bfa3838e47b3152c4dedc73d71633d9c1a1afff3c011431dfa7cd32fc12c53a35aa6855a720ab",
        ),
        (
            "sqlite/0016_policy_names.sql",
            "6af8f60c9544a0b33acc29fb1d1d869058dabbbe9d9c475f0442f51392fdcbc900068efcc5bda474ca9d9c562b53c2f9",
        ),
        (
            "sqlite/0017_role_owners.sql",
            "26f009e9b79363ad13879e67a445789ed6721369b38112437ac6a83811ae322a8e1b0c043742a2b26aedb28a2d0372d3",
        ),
        (
            "sqlite/0018_audit_details.sql",
            "ddf606ffca4693bed413fd6772c5583f80ac95e39df57a44db8f5e5ead3f41d8321c4a71444fd19ebc790836ffe5f0a8",
        ),
        (
            "sqlite/0019_sync_sizes.sql",
            "61ac61b2e84a31bf1a28ade91092a7721373797da90c94e4888a7c130e862ba1bb0e1f42d7d1d3197a63d02a1ab6c6c1",
        ),
        (
            "sqlite/0020_types.sql",
            "cf76036a102eb95cb1e47f5955be760cbb07cc71e243ed36fa4a0b488bda031dfa8252948945d164155b8b6f6a8b744f",
        ),
        (
            "sqlite/0021_relations.sql",
            "b4cfc22c3c1ab521aa06ec65d3fcecff93b45ee3f9bc74be9609c0eb21276d87898021f2f899773a8db196f78ca6b8eb",
        ),
        (
            "sqlite/0022_history.sql",
            "d4443980ff5bbedb37354f4161021c49149540648da87a98b0fa338b4ddade123f5965b874b6896cf2a1bc9dd4c393af",
        ),
        (
            "sqlite/0023_decision_files.sql",
            "1559282f8d01f5f16482175f8ea892fb9f8ccc77193cd7f6f7c9be7b63bc8f69395e2bd58e3afc62014af285af850140",
        ),
        (
            "sqlite/0024_drafts.sql",
            "1ed697239d54d223dbc0bba498d59dd7903989e31d924e991472435afb570894291c2b2f9ff9504fcac24b59240c3c17",
        ),
        (
            "sqlite/0025_shadows.sql",
            "fc151f05eddd6199e8053626f1314ab71b5db7df15fd8fb3b93710e51aaa9f85b0f37d6b12e01952e56a677fdd6027d0",
        ),
        (
            "sqlite/0026_record_answers.sql",
            "ad67d5ee24dae97e2d31bd4392ff9c53b82c270a39a9e39913c225514102aaddfca869f23bb1a9414fc93486a308d1f3",
        ),
        (
            "sqlite/0027_decision_work.sql",
            "4a0997a7928f715bd86ab023f35c7f83738acc716be4e3b9ea554ccd42b2b46bc6334283bea0757f507769d5062c2b98",
        ),
        (
            "sqlite/0028_erased_deliveries.sql",
            "649568a2748056d15cd37c703be8944746943e8eb9f9f97feaec1cf290b72687545487dc0936ecfc89e1913af2a577be",
        ),
        (
            "sqlite/0029_roles_format.sql",
            "8cba8d767cf257b4b92a886fb6f6e28c68750ba36bbf57a627500e25c6a30936eadfd90b3736d567a7c645dc845b2268",
        ),
        (
            "sqlite/0030_draft_modes.sql",
            "f46647f7c6f2a4e104e425efec9271aadbce6ba0806a6840623fcf477f52ae0bd1effc8610470a8e269311405bb6be4d",
        ),
        (
            "sqlite/0031_plan_indexes.sql",
            "875aebda19fa18c3501d1c9190308abeb8bce2f26be3549382983ea3a242cec6943e4fb30c7071ae58f9f1d6e3331da8",
        ),
        (
            "sqlite/0033_console.sql",
            "b9ff15c0fb895fbc81a75dd168421e0232f41868cc3f1bd65855c8bad67b7ee3d007ec6c8b06695606d6f79dea7b9575",
        ),
    ];

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn databases_in_use_stay_valid() {
        let built = [("postgres", postgres()), ("sqlite", sqlite())];
        let built: Vec<_> = built
            .iter()
            .flat_map(|(database, migrator)| {
                migrator.iter().map(move |migration| {
                    assert_eq!(migration.migration_type, MigrationType::Simple);
                    assert!(!migration.no_tx);
                    let Migration { version, description, checksum, .. } = migration;
                    (format!("{database}/{version:04}_{description}.sql"), hex(checksum))
                })
            })
            .collect();
        let built: Vec<_> = built.iter().map(|(file, sum)| (&**file, &**sum)).collect();
        assert_eq!(built, RELEASED);
        let migrator = sqlite();
        assert_eq!((&*migrator.table_name, migrator.locking), ("_sqlx_migrations", true));
    }

    #[test]
    fn every_file_is_embedded() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        for (database, sources) in [("sqlite", SQLITE), ("postgres", POSTGRES)] {
            let entries = fs::read_dir(directory.join(database)).expect("a directory");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            let mut files: Vec<_> =
                names.map(|name| name.into_string().expect("in UTF-8")).collect();
            files.sort();
            let embedded = sources.map(|(name, _)| format!("{name}.sql"));
            assert_eq!(files, embedded, "{database}");
        }
    }
}
