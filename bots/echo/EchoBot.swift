package import BotKit

/// Repeats others' messages, reports commits, and rejects calls.
package struct EchoBot: Bot {
    /// The bot's name in configurations.
    package static let name = "echo"

    /// Creates the bot, which has no settings.
    package init(settings: BotSettings) throws {}

    /// The handlers of messages, commits and invitations to calls.
    package var handlers: [Handler] {
        OnMessage { message, context in
            context.reply("echo: \(message.content)")
        }
        OnCommit { commit, context in
            guard !commit.removedSelf else { return }
            context.send(report(on: commit))
        }
        OnCall(.invite) { _, context in
            try context.rejectCall(reason: "declined")
        }
    }
}

/// Describes a commit, such as `commit by 0123abcd: renamed "a" → "b"; added 4567cdef (epoch 3 → 4)`.
private func report(on commit: CommitEvent) -> String {
    var changes: [String] = []
    if commit.isRename { changes.append("renamed \"\(commit.oldName)\" → \"\(commit.newName)\"") }
    if commit.descriptionChanged { changes.append("changed the description") }
    if !commit.added.isEmpty { changes.append("added \(short(commit.added))") }
    if !commit.removed.isEmpty { changes.append("removed \(short(commit.removed))") }
    if !commit.adminsAdded.isEmpty { changes.append("made admin \(short(commit.adminsAdded))") }
    if !commit.adminsRemoved.isEmpty { changes.append("no longer admin \(short(commit.adminsRemoved))") }
    if commit.relaysChanged { changes.append("changed the relays") }
    if changes.isEmpty { changes.append("updated its keys") }
    let epochs = "(epoch \(commit.epochBefore) → \(commit.epochAfter))"
    return "commit by \(short([commit.committer])): \(changes.joined(separator: "; ")) \(epochs)"
}

private func short(_ keys: [PublicKey]) -> String {
    keys.map { String($0.hex.prefix(8)) }.joined(separator: ", ")
}
