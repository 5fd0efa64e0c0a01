//! The tables whose rows are read and written plainly.

pub(crate) mod node {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(schema_name = "htm", table_name = "nodes")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub(crate) id: i64,
        pub(crate) namespace: String,
        pub(crate) robot_id: i64,
        pub(crate) key: Option<String>,
        pub(crate) content: String,
        pub(crate) content_hash: Vec<u8>,
        pub(crate) revision: i32,
        pub(crate) speaker: Option<String>,
        pub(crate) session: Option<String>,
        pub(crate) seq: Option<i32>,
        pub(crate) source: Option<String>,
        pub(crate) r#type: Option<String>,
        pub(crate) importance: f32,
        pub(crate) token_count: i32,
        pub(crate) token_encoding: String,
        pub(crate) metadata: Json,
        pub(crate) created_at: ChronoDateTimeUtc,
        pub(crate) updated_at: ChronoDateTimeUtc,
        pub(crate) remembered_at: ChronoDateTimeUtc,
        pub(crate) deleted_at: Option<ChronoDateTimeUtc>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {
        #[sea_orm(
            belongs_to = "super::robot::Entity",
            from = "Column::RobotId",
            to = "super::robot::Column::Id"
        )]
        Robot,
    }

    impl Related<super::robot::Entity> for Entity {
        fn to() -> RelationDef {
            Relation::Robot.def()
        }
    }

    impl Related<super::tag::Entity> for Entity {
        fn to() -> RelationDef {
            super::node_tag::Relation::Tag.def()
        }

        fn via() -> Option<RelationDef> {
            Some(super::node_tag::Relation::Node.def().rev())
        }
    }

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod robot {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(schema_name = "htm", table_name = "robots")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub(crate) id: i64,
        pub(crate) uuid: Uuid,
        pub(crate) namespace: String,
        pub(crate) name: String,
        pub(crate) created_at: ChronoDateTimeUtc,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod tag {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(schema_name = "htm", table_name = "tags")]
    pub(crate) struct Model {
        #[sea_orm(primary_key)]
        pub(crate) id: i64,
        pub(crate) namespace: String,
        pub(crate) path: String,
        pub(crate) created_at: ChronoDateTimeUtc,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) mod node_tag {
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(schema_name = "htm", table_name = "node_tags")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) node_id: i64,
        #[sea_orm(primary_key, auto_increment = false)]
        pub(crate) tag_id: i64,
        pub(crate) origin: String,
        pub(crate) model: Option<String>,
        pub(crate) prompt_version: Option<String>,
        pub(crate) confidence: Option<f32>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub(crate) enum Relation {
        #[sea_orm(
            belongs_to = "super::node::Entity",
            from = "Column::NodeId",
            to = "super::node::Column::Id"
        )]
        Node,
        #[sea_orm(belongs_to = "super::tag::Entity", from = "Column::TagId", to = "super::tag::Column::Id")]
        Tag,
    }

    impl ActiveModelBehavior for ActiveModel {}
}
