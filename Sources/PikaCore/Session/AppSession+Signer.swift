import Nostr

/// The deadline of the handshake with a remote signer during a login.
struct SignerContact: Sendable {
    /// Milliseconds for the signer to name its account.
    static let timeout: Int64 = 30_000
    /// Additional milliseconds if it first asks for a user's approval.
    static let approvalTimeout: Int64 = 300_000
    /// Milliseconds for a signer to accept an invitation, which its user has to copy or scan first.
    static let invitationTimeout: Int64 = 300_000

    /// The start of the handshake, in Unix milliseconds.
    let start: Int64
    /// The timeout in milliseconds, counted from `start`.
    var timeout = Self.timeout
    /// The address where a user approves this client.
    var approval: String?
}

/// The client key introduced to a signer, until it is stored with the account. A signer's secret for new clients may be
/// valid only once, so the next attempt must use the same key.
struct SignerIntroduction: Sendable {
    let remoteSigner: PublicKey
    let client: KeyPair
    /// The signer's account; nil until the signer has named it.
    var account: PublicKey?
    /// Whether the signer has accepted the client by its invitation.
    var isAccepted = false
}

/// Accounts whose key is with a remote signer (NIP-46).
extension AppSession {
    private enum Step: Sendable {
        case answered(Result<PublicKey, SignerError>)
        case failed(AppCoreError)
        /// A task that does not decide the login has ended.
        case over
    }

    /// Asks a signer for its account; reuses the stored client key of a known signer.
    func unlock(bunker address: String) async throws(AppCoreError) -> UnlockedKey {
        let url: BunkerURL
        do { url = try BunkerURL(address) } catch { throw AppCoreError(.badCredential, "\(error.message)") }
        return try await self.unlock(url, try await self.introduction(to: url))
    }

    /// Waits until a signer accepts an invitation, then asks it for its account.
    func unlock(invitation url: NostrConnectURL, client: KeyPair) async throws(AppCoreError) -> UnlockedKey {
        guard url.client == client.publicKey else {
            throw AppCoreError(.badCredential, "the invitation must name the key of its client, found \(url.client)")
        }
        let remoteSigner = try await self.awaitAcceptance(of: url, client)
        return try await self.unlock(
            BunkerURL(remoteSigner: remoteSigner, relays: url.relays),
            SignerIntroduction(remoteSigner: remoteSigner, client: client, isAccepted: true))
    }

    private func unlock(
        _ url: BunkerURL, _ introduction: SignerIntroduction
    ) async throws(AppCoreError) -> UnlockedKey {
        self.introduction = introduction
        let account = try await self.connect(url, introduction)
        self.introduction?.account = account
        var unlocked = try await self.remoteKey(of: account, url, client: introduction.client)
        unlocked.identity = .bunker(account, url, client: introduction.client)
        return unlocked
    }

    /// Returns the key of a known account; its signer may be offline.
    func remoteKey(
        of account: PublicKey, _ url: BunkerURL, client: KeyPair
    ) async throws(AppCoreError) -> UnlockedKey {
        let link = try await self.link(to: url, client: client, account: account)
        return UnlockedKey(
            key: .remote(account, link.signer), mode: .remoteSigner, link: link)
    }

    private func introduction(to url: BunkerURL) async throws(AppCoreError) -> SignerIntroduction {
        if case .bunker(let account, let known, let client)? = try await self.loadIdentity(),
            known.remoteSigner == url.remoteSigner
        {
            return SignerIntroduction(remoteSigner: url.remoteSigner, client: client, account: account)
        }
        if let introduction, introduction.remoteSigner == url.remoteSigner { return introduction }
        return SignerIntroduction(remoteSigner: url.remoteSigner, client: KeyPair.generate(using: &self.random))
    }

    private func link(
        to url: BunkerURL, client: KeyPair, account: PublicKey?, isIntroduced: Bool = false
    ) async throws(AppCoreError) -> SignerLink {
        let resources = try await self.openSigner(client)
        self.links += 1
        let signer = BunkerSigner(
            url, clientKey: client, account: account, isIntroduced: isIntroduced, transport: resources.transport,
            clock: self.clock, randomness: self.randomness(-self.links), logger: self.logger)
        return SignerLink(signer: signer, resources: resources)
    }

    private func openSigner(_ client: KeyPair) async throws(AppCoreError) -> SignerResources {
        do { return try await self.host.openSigner(client: client) } catch {
            throw AppCoreError(.accountUnavailable, "the connections to the signer cannot be opened: \(error)")
        }
    }

    // MARK: Invitation

    /// Returns the first signer that answers an invitation with its secret.
    private func awaitAcceptance(
        of url: NostrConnectURL, _ client: KeyPair
    ) async throws(AppCoreError) -> PublicKey {
        let resources = try await self.openSigner(client)
        let deadline = self.clock.nowMilliseconds + SignerContact.invitationTimeout
        let step = await withTaskGroup(of: Step.self) { group in
            group.addTask {
                do { try await resources.run() } catch { return Self.failure(error) }
                return .over
            }
            group.addTask { await Self.acceptance(of: url, client, on: resources.transport) }
            group.addTask { [clock = self.clock] in
                do { try await clock.sleep(untilMilliseconds: deadline) } catch { return .over }
                let relays = url.relays.map(\.string).joined(separator: ", ")
                return .failed(AppCoreError(.signerAway, "no remote signer accepted the invitation on \(relays)"))
            }
            var step = Step.over
            while case .over = step, let next = await group.next() { step = next }
            await resources.transport.shutdown()
            group.cancelAll()
            return step
        }
        switch step {
        case .answered(.success(let remoteSigner)): return remoteSigner
        case .answered(.failure(let error)): throw AppCoreError(login: error)
        case .failed(let error): throw error
        case .over: throw AppCoreError(.sessionEnded, "the login was interrupted")
        }
    }

    /// Listens until the transport ends. Messages without the secret are ignored: anyone who knows the client's public
    /// key can send them.
    private static func acceptance(
        of url: NostrConnectURL, _ client: KeyPair, on transport: any RelayTransport
    ) async -> Step {
        await transport.setRelays(url.relays)
        let filter = Filter(kinds: [.remoteSigning], tags: ["p": [client.publicKey.hex]])
        await transport.subscribe(RelaySubscription(id: "invitation", filters: [filter], overlap: 60))
        for await update in transport.updates {
            guard case .event(_, _, let event) = update,
                let message = try? NIP46.message(in: event, from: event.pubkey, to: client),
                let response = try? NIP46.Response(json: message), response.outcome == .result(url.secret)
            else { continue }
            return .answered(.success(event.pubkey))
        }
        return .over
    }

    private static func failure(_ error: any Error) -> Step {
        .failed(AppCoreError(.accountUnavailable, "the connections to the signer have failed: \(error)"))
    }

    // MARK: Handshake

    /// Asks the signer for its account, over separate connections: those of the account start with its session.
    private func connect(_ url: BunkerURL, _ introduction: SignerIntroduction) async throws(AppCoreError) -> PublicKey {
        let link = try await self.link(
            to: url, client: introduction.client, account: introduction.account, isIntroduced: introduction.isAccepted)
        self.contact = SignerContact(start: self.clock.nowMilliseconds)
        let step = await withTaskGroup(of: Step.self) { group in
            group.addTask { await self.run(link) }
            group.addTask {
                do throws(SignerError) { return .answered(.success(try await link.signer.connect())) } catch {
                    return .answered(.failure(error))
                }
            }
            group.addTask { await self.awaitSignerDeadline(with: link.signer) }
            group.addTask {
                for await url in link.signer.challenges { await self.noteApproval(url) }
                return .over
            }
            var step = Step.over
            while case .over = step, let next = await group.next() { step = next }
            await link.shutdown()
            group.cancelAll()
            return step
        }
        if self.contact?.approval != nil { self.toast = nil }
        self.contact = nil
        switch step {
        case .answered(let result):
            do { return try result.get() } catch { throw AppCoreError(login: error) }
        case .failed(let error): throw error
        case .over: throw AppCoreError(.sessionEnded, "the login was interrupted")
        }
    }

    private func run(_ link: SignerLink) async -> Step {
        do { try await link.run() } catch { return Self.failure(error) }
        return .over
    }

    private func awaitSignerDeadline(with signer: BunkerSigner) async -> Step {
        while let contact = self.contact {
            let deadline = contact.start + contact.timeout
            guard self.clock.nowMilliseconds < deadline else {
                return .answered(.failure(await signer.timeoutError(after: contact.timeout)))
            }
            do { try await self.clock.sleep(untilMilliseconds: deadline) } catch { return .over }
        }
        return .over
    }

    /// Publishes an approval address. Repeated requests extend the deadline only once.
    private func noteApproval(_ url: String) {
        guard var contact = self.contact else { return }
        if contact.approval == nil { contact.timeout += SignerContact.approvalTimeout }
        contact.approval = url
        self.contact = contact
        self.toast = "the signer requires approval of this login: \(url)"
        self.publish()
    }
}

extension AppCoreError {
    /// Maps the signer's error to the reason why a login failed, and how to fix it.
    fileprivate init(login error: SignerError) {
        switch error.code {
        case .away: self.init(.signerAway, "the remote signer is away: \(error.message); log in again")
        case .wrongAccount: self.init(.wrongSigner, "\(error.message); log out first to log in as another account")
        default: self.init(.signerRefused, "the remote signer refuses this login: \(error.message)")
        }
    }
}
