import Appliance
import BotKit

/// Sends requests to the cloud, and to appliances in the local network.
struct CloudClient: Sendable {
    private let cloud: String
    private let http: any BotHTTP
    private let vault: BotVault
    private let tokens: TokenPipeline

    /// Throws `BotError.Code.limitReached`.
    init(cloud: String, services: BotServices) throws(BotError) {
        self.cloud = cloud
        http = services.http
        vault = services.vault
        tokens = try services.tokens("epicura") { refresh, http in
            let request = try APIRequest.refresh(RefreshRequest(refreshToken: refresh.text))
            let answer = try await http.send(Self.http(request, at: cloud, timeout: .seconds(10)))
            guard answer.status != 401 else { return .refused }
            guard answer.status == 200 else { throw BotError(.requestFailed, "the token could not be renewed") }
            return .renewed(Self.pair(try APICoding.decode(TokenGrant.self, from: answer.body)))
        }
    }

    // MARK: Requests

    /// The most attempts of a request that the cloud refuses even with new tokens.
    private static let maximumAttempts = 3

    /// Sends a request to the cloud. Every request may be repeated: commands by their id, others by their meaning.
    func send(_ request: APIRequest, timeout: Duration = .seconds(10)) async -> CloudAnswer {
        let http = Self.http(request, at: cloud, timeout: timeout)
        for _ in 0..<Self.maximumAttempts {
            do throws(BotError) {
                let answer =
                    request.authorization == .accessToken
                    ? try await tokens.send(http) : try await self.http.send(http)
                return .answered(status: answer.status, body: answer.body)
            } catch {
                if error.code == .signedOut { return .signedOut }
                // A storm of refusals: the tokens are new, and refused again.
                guard error.code == .unauthorized else { return .unreachable }
            }
        }
        return .unreachable
    }

    /// Sends a request to an appliance by the local network.
    func send(_ request: APIRequest, to appliance: ApplianceRecord, timeout: Duration) async -> CloudAnswer {
        guard let request = await local(request, appliance, timeout: timeout) else { return .unreachable }
        do throws(BotError) {
            let answer = try await http.send(request)
            return .answered(status: answer.status, body: answer.body)
        } catch {
            return .unreachable
        }
    }

    /// A request to an appliance with its key; nil if its address or its key is not known.
    func local(_ request: APIRequest, _ appliance: ApplianceRecord, timeout: Duration) async -> BotHTTPRequest? {
        guard let address = appliance.localAddress, NetworkAddress.isPlain(address),
            let key = try? await vault.secret(Self.keyName(appliance.id))
        else { return nil }
        var http = Self.http(request, at: "http://\(address)", timeout: timeout)
        http.headers.append((name: "Authorization", value: "Local \(key.text)"))
        return http
    }

    private static func http(_ request: APIRequest, at base: String, timeout: Duration) -> BotHTTPRequest {
        var headers = [(name: "Accept", value: "application/json")]
        if !request.body.isEmpty { headers.append((name: "Content-Type", value: "application/json")) }
        if let key = request.idempotencyKey { headers.append((name: "Idempotency-Key", value: key)) }
        if let version = request.version { headers.append((name: "If-Match", value: "\(version)")) }
        // The operator has named the cloud, and permits the local network by a setting.
        return BotHTTPRequest(
            method: request.method.rawValue, url: base + request.target, headers: headers, body: request.body,
            timeout: timeout, maximumBytes: 4 << 20, reachesPrivateAddresses: true)
    }

    // MARK: Secrets

    var isSignedIn: Bool {
        get async { (try? await tokens.isSignedIn()) ?? false }
    }

    func signIn(_ grant: TokenGrant) async throws(BotError) { try await tokens.signIn(Self.pair(grant)) }

    func signOut() async throws(BotError) { try await tokens.signOut() }

    private static func pair(_ grant: TokenGrant) -> TokenPair {
        TokenPair(access: BotSecret(grant.accessToken), refresh: BotSecret(grant.refreshToken))
    }

    /// The headers of a connection to the live stream: a token that the cloud has just accepted, and the last event.
    func streamHeaders(after sequence: Int) async throws(BotError) -> [(name: String, value: String)] {
        // The pipeline renews a token only when a request of its own is refused.
        let answer = await send(.appliances)
        let token = try await vault.secret("epicura.access")
        guard answer.isSuccess, let token else {
            throw BotError(.signedOut, "not signed in, or the cloud cannot be reached")
        }
        return [
            (name: "Authorization", value: "Bearer \(token.text)"), (name: "Last-Event-ID", value: "\(sequence)"),
        ]
    }

    /// Stores the key of an appliance for the local network.
    func keep(_ key: String, of appliance: String) async throws(BotError) {
        try await vault.set(BotSecret(key), for: Self.keyName(appliance))
    }

    /// The name of an appliance's key in the vault: 1 to 64 of a-z, 0-9 and . _ -.
    private static func keyName(_ appliance: String) -> String {
        // FNV-1a, because ids may have capital letters and colons.
        let hash = appliance.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let plain = appliance.lowercased().map { $0 == ":" ? "-" : $0 }.prefix(32)
        return "local.\(String(plain)).\(String(hash, radix: 36))"
    }

    /// The claim of an appliance that has joined the Wi-Fi and is not in the household yet.
    func keepClaim(_ claim: ApplianceClaim?) async throws(BotError) {
        guard let claim else { return try await vault.remove("claim") }
        let bytes: [UInt8]
        do { bytes = try APICoding.encode(claim) } catch { throw BotError(.vaultRefused, error.message) }
        try await vault.set(BotSecret(bytes), for: "claim")
    }

    func waitingClaim() async -> ApplianceClaim? {
        guard let stored = try? await vault.secret("claim") else { return nil }
        return stored.withBytes { try? APICoding.decode(ApplianceClaim.self, from: Array($0)) }
    }
}
