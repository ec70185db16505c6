/// Services with state: each belongs to the bot whose handler asks for it, and all handlers of the bot share it.
extension BotServices {
    /// The bot's secrets that it acquired at run time.
    public var vault: BotVault {
        // The vaults are not limited: a bot has one.
        let vault = try? resources.object("vault", of: bot) { BotVault(bot: bot, records: records) }
        return vault?.object ?? BotVault(bot: bot, records: records)
    }

    /// Returns the bot's token pipeline of this name; the first call decides how tokens are renewed.
    ///
    /// Throws `BotError.Code.limitReached` for more than 16 pipelines of a bot.
    public func tokens(_ name: String, renew: @escaping TokenPipeline.Renew) throws(BotError) -> TokenPipeline {
        let vault = vault
        let observe = observer(of: name)
        return try resources.object(name, of: bot) {
            TokenPipeline(
                name: name, http: http, vault: vault, background: resources.background, observe: observe,
                renew: renew)
        }.object
    }

    /// Returns the bot's outbox of this name; the first call decides its limits, how it sends and who learns outcomes.
    ///
    /// - Parameters:
    ///   - name: The name of the outbox within the bot.
    ///   - limits: Bounds of waiting requests.
    ///   - send: Sends an attempt; ``http`` by default.
    ///   - onOutcome: Receives the outcome of each request.
    ///
    /// Throws `BotError.Code.limitReached` for more than 16 outboxes of a bot.
    public func outbox(
        _ name: String, limits: OutboxLimits = OutboxLimits(), send: RequestOutbox.Send? = nil,
        onOutcome: @escaping RequestOutbox.OnOutcome = { _ in }
    ) throws(BotError) -> RequestOutbox {
        let http = http
        let plain: RequestOutbox.Send = { (request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse in
            try await http.send(request)
        }
        let observe = observer(of: name)
        let (outbox, isNew) = try resources.object(name, of: bot) {
            RequestOutbox(
                bot: bot, name: name, limits: limits, records: records, clock: clock, observe: observe,
                send: send ?? plain, onOutcome: onOutcome)
        }
        if isNew { resources.background.start { await outbox.run() } }
        return outbox
    }

    private func observer(of name: String) -> @Sendable (BotResourceEvent) -> Void {
        { [resources, bot] in resources.observe($0, bot, name) }
    }

    /// Returns the bot's connection of this name, which the first call opens; it stays open when the handler ends.
    ///
    /// Throws `BotError.Code.requestFailed` for a malformed request, and `BotError.Code.limitReached` for more than 16
    /// connections of a bot.
    @discardableResult
    public func connect(
        _ name: String, _ request: BotConnectionRequest, _ handlers: BotConnectionHandlers
    ) throws(BotError) -> any BotConnection {
        let connections = connections
        let observe = observer(of: name)
        var observed = handlers
        observed.onState = { state in
            observe(.connection(state))
            handlers.onState(state)
        }
        let (shared, isNew) = try resources.object(name, of: bot) { () throws(BotError) -> SharedConnection in
            SharedConnection(connection: try connections.connection(request, observed))
        }
        if isNew { resources.background.start { await shared.connection.run() } }
        return shared.connection
    }

    /// Opens the bot's database file of this name, or creates it.
    ///
    /// The file stays open until the runtime ends. The runtime copies it regularly (`databases: backup:`).
    ///
    /// - Parameters:
    ///   - name: 1 to 64 letters, digits, "-" and "_".
    ///   - kind: Sealed or plain; decided by the first call.
    ///   - migrations: Lists of statements. Each is applied once to a file, in order; append to the list, never change
    ///     it.
    /// Throws `BotError.Code.storageFailed`, and the errors of ``BotDatabase``.
    public func database(
        _ name: String, _ kind: BotDatabaseKind, migrations: [[String]]
    ) async throws(BotError) -> any BotDatabase {
        try await databases.database(name, of: bot, kind, migrations: migrations)
    }

    /// Opens the last backup of a database file for reading; nil if there is none yet.
    ///
    /// Throws `BotError.Code.storageFailed`.
    public func databaseBackup(_ name: String, _ kind: BotDatabaseKind) async throws(BotError) -> (any BotDatabase)? {
        try await databases.backup(name, of: bot, kind)
    }
}

/// Gives the objects behind the protocol a type of their own.
private struct SharedConnection: Sendable {
    let connection: any BotConnection
}
