extension EventFilter<CommitEvent> {
    /// Only commits of other members.
    public static var byOthers: Self { Self { commit, _ in !commit.isOwn } }

    /// Only commits that renamed the group.
    public static var rename: Self { Self { commit, _ in commit.isRename } }

    /// Only commits that added or removed members.
    public static var membership: Self { Self { commit, _ in !commit.added.isEmpty || !commit.removed.isEmpty } }
}
