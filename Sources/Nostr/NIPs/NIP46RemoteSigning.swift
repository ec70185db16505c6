/// NIP-46: remote signing with a key held by a signer ("bunker"), which signs, encrypts and decrypts on request.
///
/// Requests and responses are JSON in the content of kind 24133 events, encrypted (NIP-44) between a key of the client
/// and the remote signer's key, which may differ from the one that signs.
public enum NIP46 {
    /// Method of a request; unknown values are allowed.
    public struct Method: Hashable, Sendable, RawRepresentable {
        /// The method's name as in messages.
        public let rawValue: String

        /// Creates any method, known or not.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Parameters: the remote signer's key, secret, permissions. Result: `ack` or the secret.
        public static let connect = Method(rawValue: "connect")
        /// Result: `pong`.
        public static let ping = Method(rawValue: "ping")
        /// Result: the key that signs events.
        public static let getPublicKey = Method(rawValue: "get_public_key")
        /// Parameter: the event's JSON without id and signature. Result: the signed event's JSON.
        public static let signEvent = Method(rawValue: "sign_event")
        /// Parameters: the peer's key and the text. Result: the payload.
        public static let nip44Encrypt = Method(rawValue: "nip44_encrypt")
        /// Parameters: the peer's key and the payload. Result: the text.
        public static let nip44Decrypt = Method(rawValue: "nip44_decrypt")
    }

    /// A client's request to a signer.
    public struct Request: Hashable, Sendable {
        /// Chosen by the client and repeated in the response.
        public let id: String
        /// The requested operation.
        public let method: Method
        /// The parameters, whose number and meaning depend on the method.
        public let params: [String]

        /// Creates a request; the id must be 1 to ``NIP46/maximumIDLength`` bytes.
        public init(id: String, method: Method, params: [String] = []) {
            self.id = id
            self.method = method
            self.params = params
        }
    }

    /// A signer's response to a request.
    public struct Response: Hashable, Sendable {
        /// The outcome of a request.
        public enum Outcome: Hashable, Sendable {
            /// Success; the text depends on the method.
            case result(String)
            /// Failure, with the signer's message.
            case error(String)
            /// The user must approve the request at this address; then another response with the same id follows.
            case challenge(url: String)
        }

        /// The id of the request.
        public let id: String
        /// The outcome of the request.
        public let outcome: Outcome

        /// Creates a response to the request with this id.
        public init(id: String, outcome: Outcome) {
            self.id = id
            self.outcome = outcome
        }
    }

    /// Value of `result` when `error` contains an address.
    private static let challengeMark = "auth_url"
    /// Maximum size in bytes of a message's id and of its method; longer ones are refused.
    public static let maximumIDLength = 256
}

// MARK: JSON

extension NIP46.Request {
    /// Returns the request's compact JSON, to be encrypted.
    public func json() -> [UInt8] {
        let json: JSONValue = [
            "id": .string(self.id), "method": .string(self.method.rawValue),
            "params": .array(self.params.map(JSONValue.string)),
        ]
        return json.json()
    }

    /// Parses a request.
    ///
    /// - Throws: `NostrError.Code.missingField`; `NostrError.Code.unexpectedType`; errors of
    ///   ``JSONValue/init(json:)``.
    public init(json bytes: [UInt8]) throws(NostrError) {
        let json = try JSONValue(json: bytes)
        let (id, method) = (try json.field("id"), try json.field("method"))
        var params: [String] = []
        for value in json["params"]?.array ?? [] {
            guard let text = value.string else { throw NostrError(.unexpectedType, "a parameter must be a string") }
            params.append(text)
        }
        self.init(id: id, method: NIP46.Method(rawValue: method), params: params)
    }
}

extension NIP46.Response {
    /// Returns the response's compact JSON, to be encrypted.
    public func json() -> [UInt8] {
        var json: JSONObject = ["id": .string(self.id)]
        switch self.outcome {
        case .result(let text): json["result"] = .string(text)
        case .error(let text):
            json["result"] = ""
            json["error"] = .string(text)
        case .challenge(let url):
            json["result"] = .string(NIP46.challengeMark)
            json["error"] = .string(url)
        }
        return JSONValue.object(json).json()
    }

    /// Parses a response. A response with an error counts as one whatever its result. A result that is not a string is
    /// returned as its JSON.
    ///
    /// - Throws: `NostrError.Code.missingField`; `NostrError.Code.unexpectedType`; errors of
    ///   ``JSONValue/init(json:)``.
    public init(json bytes: [UInt8]) throws(NostrError) {
        let json = try JSONValue(json: bytes)
        let id = try json.field("id")
        let result: String? =
            switch json["result"] {
            case nil, .null: nil
            case .string(let text): text
            case .some(let value): value.jsonText
            }
        if let error = json["error"], error != .null, error != "" {
            guard let text = error.string else { throw NostrError(.unexpectedType, "`error` must be a string") }
            self.init(id: id, outcome: result == NIP46.challengeMark ? .challenge(url: text) : .error(text))
        } else if let result {
            self.init(id: id, outcome: .result(result))
        } else {
            throw NostrError(.missingField, "the response has neither `result` nor `error`")
        }
    }
}

extension JSONValue {
    /// Returns a member of a message between client and signer.
    fileprivate func field(_ name: String) throws(NostrError) -> String {
        guard let value = self[name] else { throw NostrError(.missingField, "the message lacks `\(name)`") }
        guard let text = value.string, (1...NIP46.maximumIDLength).contains(text.utf8.count) else {
            throw NostrError(.unexpectedType, "`\(name)` must be a string of 1 to \(NIP46.maximumIDLength) bytes")
        }
        return text
    }
}

// MARK: Events

extension NIP46 {
    /// Encrypts a message and returns its signed event.
    ///
    /// - Throws: `NostrError.Code.invalidPayloadSize` for a message that NIP-44 cannot hold;
    ///   `NostrError.Code.invalidPublicKey`.
    public static func event(
        _ message: [UInt8], from sender: KeyPair, to recipient: PublicKey, now: UnixTime,
        using generator: inout some RandomNumberGenerator
    ) throws(NostrError) -> Event {
        let nonce = Bytes32.random(using: &generator).bytes
        let content = try NIP44.encrypt(message, try NIP44.conversationKey(sender, recipient), nonce: nonce)
        return UnsignedEvent(
            pubkey: sender.publicKey, createdAt: now, kind: .remoteSigning, tags: [.user(recipient)],
            content: content
        ).signed(by: sender, using: &generator)
    }

    /// Decrypts the message in an event by `sender` for `recipient`; the caller has verified the event's own signature.
    ///
    /// - Throws: `NostrError.Code.unexpectedKind`; `NostrError.Code.authorMismatch`; errors of
    ///   ``NIP44/decrypt(_:_:)``.
    public static func message(
        in event: Event, from sender: PublicKey, to recipient: KeyPair
    ) throws(NostrError) -> [UInt8] {
        guard event.kind == .remoteSigning else {
            throw NostrError(.unexpectedKind, "expected kind \(Kind.remoteSigning), found \(event.kind)")
        }
        guard event.pubkey == sender else {
            throw NostrError(.authorMismatch, "expected a message by \(sender), found one by \(event.pubkey)")
        }
        return try NIP44.decrypt(event.content, try NIP44.conversationKey(recipient, sender))
    }
}

extension UnsignedEvent {
    /// Returns the JSON without id and signature that a signer is asked to sign.
    public func templateJSON() -> [UInt8] {
        let json: JSONValue = [
            "pubkey": .string(self.pubkey.hex), "created_at": .integer(self.createdAt.seconds),
            "kind": .integer(Int64(self.kind.rawValue)),
            "tags": .array(self.tags.map { .array($0.values.map(JSONValue.string)) }), "content": .string(self.content),
        ]
        return json.json()
    }

    /// Throws unless `event` is this event correctly signed: all fields equal, id and signature valid.
    ///
    /// - Throws: `NostrError.Code.alteredEvent`; errors of ``Event/verify()``.
    public func requireSame(_ event: Event) throws(NostrError) {
        guard event.unsigned == self else {
            throw NostrError(.alteredEvent, "the signer returned a different event from the requested one")
        }
        try event.verify()
    }
}
