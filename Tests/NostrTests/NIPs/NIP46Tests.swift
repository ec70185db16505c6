import Nostr
import Testing

/// Messages and addresses of remote signers.
@Suite struct NIP46Tests {
    private static let client = "83f3b2ae6aa368e8275397b9c26cf550101d63ebaab900d19dd4a4429f5ad8f5"
    private static let signer = "fa984bd7dbb282f07e16e7ae87b26a2a7b9b90b7246a44771f0cf5ae58018f52"

    private func pair() throws -> (client: KeyPair, signer: KeyPair) {
        (
            try KeyPair(secretKey: [UInt8](repeating: 1, count: 32)),
            try KeyPair(secretKey: [UInt8](repeating: 2, count: 32))
        )
    }

    private func code(_ body: () throws -> Void) -> NostrError.Code? {
        do { try body() } catch { return (error as? NostrError)?.code }
        return nil
    }

    // MARK: Messages

    @Test func encodesRequestAsJSON() throws {
        let request = NIP46.Request(id: "4", method: .signEvent, params: [#"{"kind":1}"#])
        #expect(
            String(decoding: request.json(), as: UTF8.self)
                == #"{"id":"4","method":"sign_event","params":["{\"kind\":1}"]}"#)
        #expect(try NIP46.Request(json: request.json()) == request)
        #expect(try NIP46.Request(json: Array(#"{"id":"a","method":"ping"}"#.utf8)).params.isEmpty)
    }

    @Test(arguments: [
        (#"{"id":"1","result":"pong"}"#, NIP46.Response.Outcome.result("pong")),
        (#"{"id":"1","result":"pong","error":null}"#, .result("pong")),
        (#"{"id":"1","result":"pong","error":""}"#, .result("pong")),
        (#"{"id":"1","result":"","error":""}"#, .result("")),
        (#"{"id":"1","result":null,"error":"no"}"#, .error("no")),
        (#"{"id":"1","result":"ack","error":"no"}"#, .error("no")),
        (#"{"id":"1","result":{"kind":1}}"#, .result(#"{"kind":1}"#)),
        (#"{"id":"1","result":"auth_url","error":"https://a.example/x"}"#, .challenge(url: "https://a.example/x")),
    ]) func readsResponses(_ text: String, _ outcome: NIP46.Response.Outcome) throws {
        #expect(try NIP46.Response(json: Array(text.utf8)) == NIP46.Response(id: "1", outcome: outcome))
    }

    @Test func responsesRoundTrip() throws {
        for outcome in [.result("x"), .error("no"), .challenge(url: "https://a")] as [NIP46.Response.Outcome] {
            let response = NIP46.Response(id: "7", outcome: outcome)
            #expect(try NIP46.Response(json: response.json()) == response)
        }
    }

    @Test(arguments: [
        (#"{"result":"x"}"#, NostrError.Code.missingField),
        (#"{"id":"1"}"#, .missingField),
        (#"{"id":"1","result":null}"#, .missingField),
        (#"{"id":1,"result":"x"}"#, .unexpectedType),
        (#"{"id":"","result":"x"}"#, .unexpectedType),
        (#"{"id":"1","error":{"code":1}}"#, .unexpectedType),
        (#"{"id":"1","result":"x"} "x""#, .malformedJSON),
        (#"{"id":"1","result":"x""#, .truncatedJSON),
        (#"[]"#, .missingField),
        (#""#, .truncatedJSON),
    ]) func refusesBadResponses(_ text: String, _ code: NostrError.Code) {
        #expect(self.code { _ = try NIP46.Response(json: Array(text.utf8)) } == code)
    }

    @Test func refusesBadRequests() {
        #expect(self.code { _ = try NIP46.Request(json: Array(#"{"id":"1"}"#.utf8)) } == .missingField)
        #expect(
            self.code { _ = try NIP46.Request(json: Array(#"{"id":"1","method":"x","params":[1]}"#.utf8)) }
                == .unexpectedType)
        let long = String(repeating: "i", count: 257)
        #expect(self.code { _ = try NIP46.Response(json: Array(#"{"id":"\#(long)","result":""}"#.utf8)) } != nil)
        let whole = NIP46.Request(id: "4", method: .connect, params: ["a", "b"]).json()
        for length in 0..<whole.count {
            #expect(self.code { _ = try NIP46.Request(json: Array(whole.prefix(length))) } == .truncatedJSON)
        }
    }

    // MARK: Events

    @Test func messagesRoundTripInEvents() throws {
        let (client, signer) = try self.pair()
        var random = SystemRandomNumberGenerator()
        let event = try NIP46.event(
            Array("hello".utf8), from: client, to: signer.publicKey, now: 5, using: &random)
        try event.verify()
        #expect(event.kind == 24133 && event.createdAt == 5 && event.tags == [.user(signer.publicKey)])
        #expect(try NIP46.message(in: event, from: client.publicKey, to: signer) == Array("hello".utf8))
        #expect(
            self.code { _ = try NIP46.message(in: event, from: signer.publicKey, to: signer) } == .authorMismatch)
        #expect(self.code { _ = try NIP46.message(in: event, from: client.publicKey, to: client) } == .badMAC)
        let other = event.unsigned
        let note = UnsignedEvent(
            pubkey: other.pubkey, createdAt: 5, kind: .textNote, tags: other.tags, content: other.content
        ).signed(by: client, using: &random)
        #expect(
            self.code { _ = try NIP46.message(in: note, from: client.publicKey, to: signer) } == .unexpectedKind)
    }

    @Test func refusesTooLargeMessages() throws {
        let (client, signer) = try self.pair()
        var random = SystemRandomNumberGenerator()
        let message = [UInt8](repeating: 0x20, count: NIP44.maximumPlaintext + 1)
        #expect(
            self.code {
                _ = try NIP46.event(message, from: client, to: signer.publicKey, now: 5, using: &random)
            } == .invalidPayloadSize)
    }

    @Test func acceptsOnlyTheRequestedEvent() throws {
        let (client, signer) = try self.pair()
        var random = SystemRandomNumberGenerator()
        let draft = UnsignedEvent(pubkey: signer.publicKey, createdAt: 9, kind: .seal, tags: [Tag("a")], content: "c")
        try draft.requireSame(draft.signed(by: signer, using: &random))
        var others = [draft, draft, draft, draft, draft]
        others[0].content = "d"
        others[1].kind = .textNote
        others[2].tags = []
        others[3].createdAt = 10
        others[4].pubkey = client.publicKey
        for other in others {
            let keys = other.pubkey == client.publicKey ? client : signer
            #expect(self.code { try draft.requireSame(other.signed(by: keys, using: &random)) } == .alteredEvent)
        }
        #expect(self.code { try draft.requireSame(draft.signed(by: client, using: &random)) } == .badSignature)
        let signed = draft.signed(by: signer, using: &random)
        let renamed = Event(
            id: others[0].id, pubkey: signed.pubkey, createdAt: signed.createdAt, kind: signed.kind,
            tags: signed.tags, content: signed.content, signature: signed.signature)
        #expect(self.code { try draft.requireSame(renamed) } == .idMismatch)
    }

    @Test func templateMatchesSignedFields() throws {
        let draft = UnsignedEvent(
            pubkey: try PublicKey(hex: Self.signer), createdAt: 1, kind: 13, tags: [Tag("t", "\"")], content: "é\n")
        #expect(
            String(decoding: draft.templateJSON(), as: UTF8.self)
                == #"{"pubkey":"\#(Self.signer)","created_at":1,"kind":13,"tags":[["t","\""]],"content":"é\n"}"#)
        #expect(try UnsignedEvent.parseRumor(draft.templateJSON()).event == draft)
    }

    // MARK: Addresses

    @Test func readsBunkerAddresses() throws {
        let url = try BunkerURL(
            "bunker://\(Self.signer)?relay=wss%3A%2F%2Frelay.example&relay=ws://b.example:7777/x&secret=a%20b%26&foo=1")
        #expect(url.remoteSigner.hex == Self.signer)
        #expect(url.relays.map(\.string) == ["wss://relay.example", "ws://b.example:7777/x"])
        #expect(url.secret == "a b&")
        #expect(try BunkerURL(url.string) == url)
        #expect(
            url.string == "bunker://\(Self.signer)?relay=wss%3A%2F%2Frelay.example"
                + "&relay=ws%3A%2F%2Fb.example%3A7777%2Fx&secret=a%20b%26")
        let without = try BunkerURL("BUNKER://\(Self.signer)/?relay=wss://a.example&relay=wss://a.example/&secret=")
        #expect(without.secret == nil && without.relays.count == 1)
    }

    @Test func readsClientAddresses() throws {
        let text =
            "nostrconnect://\(Self.client)?relay=wss%3A%2F%2Frelay1.example.com&perms=nip44_encrypt%2Csign_event%3A13"
            + "&name=My+Client&secret=0s8j2djs&relay=wss%3A%2F%2Frelay2.example2.com"
        let url = try NostrConnectURL(text)
        #expect(url.client.hex == Self.client && url.secret == "0s8j2djs" && url.name == "My+Client")
        #expect(url.permissions == ["nip44_encrypt", "sign_event:13"] && url.relays.count == 2)
        #expect(try NostrConnectURL(url.string) == url)
    }

    @Test func descriptionsHideSecrets() throws {
        let bunker = try BunkerURL("bunker://\(Self.signer)?relay=wss://a.example&secret=hunter2")
        let client = try NostrConnectURL("nostrconnect://\(Self.client)?relay=wss://a.example&secret=hunter2")
        for text in [
            "\(bunker)", "\(client)", String(reflecting: bunker), String(reflecting: client),
            String(describing: [bunker]),
        ] {
            #expect(!text.contains("hunter2"), "\(text)")
        }
        var shown = ""
        dump(bunker, to: &shown)
        dump(client, to: &shown)
        #expect(!shown.contains("hunter2"))
    }

    @Test(arguments: [
        "", "bunker://", "bunker:fa98", "nostr:\(signer)", "bunker://\(signer)", "bunker://\(signer)?secret=x",
        "bunker://\(signer.dropLast())?relay=wss://a.example", "bunker://\(signer)?relay=https://a.example",
        "bunker://\(signer)?relay=wss://a.example&secret=%zz", "bunker://\(signer)?relay=wss://a.example&secret=%2",
        "bunker://\(signer)?relay=wss://a.example&secret=x\n", "bunker://\(signer)?relay=wss://a.example&secret=é",
        "bunker://\(signer)?relay=wss://a.example&secret=%ff", "bunker://\(signer)?relay=",
        "bunker://ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff?relay=wss://a.example",
        "bunker://\(signer)?relay=wss://a.example&x=" + String(repeating: "a", count: 8200),
        "bunker://\(signer)?" + (0..<17).map { "relay=wss://r\($0).example" }.joined(separator: "&"),
    ]) func refusesOtherAddresses(_ text: String) {
        #expect(self.code { _ = try BunkerURL(text) } == .invalidSignerURL)
    }

    @Test func clientAddressRequiresSecret() {
        let text = "nostrconnect://\(Self.client)?relay=wss://a.example"
        #expect(self.code { _ = try NostrConnectURL(text) } == .invalidSignerURL)
    }
}
