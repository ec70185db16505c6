import Appliance
import AsyncHTTPClient
import LiveTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Nostr
import Testing

@testable import EpicuraSimulator

@Suite(.live)
struct EpicuraSimulatorTests {
    private struct Client: Sendable {
        let address: String
        var token = ""
        var localKey = ""

        func request(_ method: HTTPMethod, _ target: String, _ body: [UInt8] = []) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: self.address + target)
            request.method = method
            if !body.isEmpty { request.body = .bytes(ByteBuffer(bytes: body)) }
            return request
        }

        func send(_ request: HTTPClientRequest) async throws -> (status: Int, body: [UInt8]) {
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
            let body = try await response.body.collect(upTo: 1 << 20)
            return (Int(response.status.code), Array(body.readableBytesView))
        }

        func send(_ api: APIRequest) async throws -> (status: Int, body: [UInt8]) {
            var request = self.request(HTTPMethod(rawValue: api.method.rawValue), api.target, api.body)
            switch api.authorization {
            case .none: break
            case .accessToken: request.headers.add(name: "Authorization", value: "Bearer \(self.token)")
            case .localKey: request.headers.add(name: "Authorization", value: "Local \(self.localKey)")
            }
            if let key = api.idempotencyKey { request.headers.add(name: "Idempotency-Key", value: key) }
            if let version = api.version { request.headers.add(name: "If-Match", value: String(version)) }
            return try await self.send(request)
        }

        func set(_ faults: SimulatedFaults) async throws {
            let answer = try await self.send(self.request(.POST, "/simulator/faults", try APICoding.encode(faults)))
            #expect(answer.status == 200)
        }

        /// Logs in and claims an appliance; returns its id.
        mutating func prepare() async throws -> String {
            let login = LoginChallengeRequest(channel: .phone, address: "+919876543210")
            let challenge = try APICoding.decode(
                LoginChallenge.self, from: try await self.send(try .loginCode(login)).body)
            let codes = try APICoding.decode(
                SimulatedCodes.self, from: try await self.send(self.request(.GET, "/simulator/codes")).body)
            let code = LoginCode(challengeID: challenge.challengeID, code: codes.items.last?.code ?? "")
            let grant = try APICoding.decode(TokenGrant.self, from: try await self.send(try .login(code)).body)
            self.token = grant.accessToken
            let serial = try APICoding.encode(SimulatedPairing(serial: "A1"))
            let pairing = try APICoding.decode(
                SimulatedPairing.self,
                from: try await self.send(self.request(.POST, "/simulator/appliances", serial)).body)
            let claim = ApplianceClaim(claimToken: pairing.claimToken ?? "", name: "Kitchen")
            let claimed = try APICoding.decode(
                ClaimedAppliance.self, from: try await self.send(try .claim(claim)).body)
            self.localKey = claimed.localKey
            return claimed.appliance.id
        }

        func start(_ appliance: String) async throws -> CommandReceipt {
            let command = CommandRequest(
                id: "c1", kind: .start, recipeID: "chai", servings: 2, expiresAt: UnixTime.systemTime + 60)
            let answer = try await self.send(try .command(command, to: appliance, by: .cloud))
            return try APICoding.decode(CommandReceipt.self, from: answer.body)
        }
    }

    @Test func cooksOverRealSockets() async throws {
        var configuration = EpicuraSimulator.Configuration()
        configuration.settings.speed = 600
        try await withEpicuraSimulator(configuration: configuration) { simulator, address in
            var client = Client(address: address)
            let appliance = try await client.prepare()
            let socket = try await EventSocket.connect(address, token: client.token, after: 0)
            let hello = try await socket.next()
            #expect(hello?.body == .hello(isResumed: false))
            let receipt = try await client.start(appliance)
            #expect(receipt.state == .accepted)
            var cursor = EventCursor(last: hello?.sequence ?? 0)
            var last: CookingStatus?
            while last?.phase != .finished, let event = try await socket.next() {
                let verdict = cursor.admit(event)
                #expect(verdict == .new)
                if case .cooking(let status) = event.body { last = status }
            }
            #expect(last?.percent == 100 && simulator.cloud.requestLog.starts == 1)
            // The header of the last event counts instead of the query.
            let resumed = try await EventSocket.connect(
                address, token: client.token, after: 0, lastEventID: cursor.last)
            let again = try await resumed.next()
            #expect(again?.body == .hello(isResumed: true))
            let list = try APICoding.decode(ApplianceList.self, from: try await client.send(.appliances).body)
            #expect(list.items.first?.localAddress.map { "http://\($0)" } == address)
        }
    }

    @Test func closesSocketsByFault() async throws {
        try await withEpicuraSimulator { simulator, address in
            var client = Client(address: address)
            _ = try await client.prepare()
            let socket = try await EventSocket.connect(address, token: client.token, after: 0)
            _ = try await socket.next()
            try await eventually("the socket is counted") { simulator.cloud.socketCount == 1 }
            var faults = SimulatedFaults()
            faults.dropSockets = true
            try await client.set(faults)
            let end = try await socket.next()
            #expect(end == nil)
            let upgrade = [
                "GET /v1/events HTTP/1.1", "Host: x", "Connection: Upgrade", "Upgrade: websocket",
                "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Authorization: Bearer no",
            ]
            let refused = try await answer(to: upgrade.joined(separator: "\r\n") + "\r\n\r\n", at: address)
            #expect(refused.hasPrefix("HTTP/1.1 401"))
        }
    }

    @Test(arguments: [false, true])
    func streamsPictures(omitsLength: Bool) async throws {
        try await withEpicuraSimulator { _, address in
            var client = Client(address: address)
            _ = try await client.prepare()
            var faults = SimulatedFaults()
            faults.omitContentLength = omitsLength
            try await client.set(faults)
            var request = client.request(.GET, "/camera/stream")
            request.headers.add(name: "Authorization", value: "Local \(client.localKey)")
            let response = try await HTTPClient.shared.execute(request, timeout: .seconds(20))
            var parser = try MJPEGParser(contentType: response.headers.first(name: "Content-Type") ?? "")
            var pictures: [[UInt8]] = []
            for try await part in response.body {
                pictures += parser.consume(part.readableBytesView)
                if pictures.count >= 5 { break }
            }
            #expect(pictures.count >= 5 && Set(pictures).count == pictures.count)
            #expect(parser.losses == MJPEGParser.Losses())
        }
    }

    @Test func answersOverHTTP() async throws {
        try await withEpicuraSimulator { _, address in
            var client = Client(address: address)
            let appliance = try await client.prepare()
            let plain = try await client.send(client.request(.GET, "/v1/events"))
            let session = try await client.send(try .session(of: appliance))
            let picture = try await client.send(.cameraSnapshot)
            #expect(plain.status == 426 && session.status == 204 && picture.body.starts(with: [0xFF, 0xD8]))
            var faults = SimulatedFaults()
            faults.lostStopAcknowledgements = 1
            try await client.set(faults)
            let stop = EmergencyStopRequest(id: "e1", requestedAt: UnixTime.systemTime)
            let prepared = client
            await #expect(throws: (any Error).self) {
                _ = try await prepared.send(try .emergencyStop(stop, of: appliance, by: .local))
            }
            let again = try await client.send(try .emergencyStop(stop, of: appliance, by: .local))
            #expect(again.status == 200)
            let log = try APICoding.decode(
                SimulatedLog.self, from: try await client.send(client.request(.GET, "/simulator/log")).body)
            #expect(log.stops == 1 && log.requests.count(where: { $0.path == "/lan/v1/emergency-stop" }) >= 2)
        }
    }
}

/// A WebSocket client of the live stream.
private final class EventSocket: Sendable {
    private let channel: any Channel
    private let messages: AsyncStream<[UInt8]>

    private init(_ channel: any Channel, _ messages: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.messages = messages
    }

    static func connect(_ address: String, token: String, after sequence: Int, lastEventID: Int? = nil) async throws
        -> EventSocket
    {
        let authority = String(address.dropFirst("http://".count))
        let parts = authority.split(separator: ":")
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        let group = MultiThreadedEventLoopGroup.singleton
        let upgraded = group.next().makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: 1 << 20) { channel, _ in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(EventSocketHandler(continuation))
                    }
                }
                let configuration: NIOHTTPClientUpgradeConfiguration = (
                    upgraders: [upgrader], completionHandler: { _ in upgraded.succeed() }
                )
                try channel.pipeline.syncOperations.addHTTPClientHandlers(
                    leftOverBytesStrategy: .forwardBytes, withClientUpgrade: configuration)
            }
        }
        let channel: any Channel
        do {
            channel = try await bootstrap.connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
        } catch {
            upgraded.fail(error)
            throw error
        }
        channel.closeFuture.whenComplete { _ in upgraded.fail(ChannelError.eof) }
        var head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/v1/events?after=\(sequence)",
            headers: ["Host": authority, "Content-Length": "0", "Authorization": "Bearer \(token)"])
        if let lastEventID { head.headers.add(name: "Last-Event-ID", value: "\(lastEventID)") }
        // Flushed together: with the head alone, the upgrade could arrive before the end.
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        try await channel.writeAndFlush(HTTPClientRequestPart.end(nil)).get()
        try await upgraded.futureResult.get()
        return EventSocket(channel, stream)
    }

    /// The next event; nil at the end.
    func next() async throws -> LiveEvent? {
        var iterator = self.messages.makeAsyncIterator()
        guard let message = await iterator.next() else { return nil }
        return try APICoding.decode(LiveEvent.self, from: message, maximumBytes: LiveEvent.maximumBytes)
    }
}

/// Sends a request as text and returns the first part of the answer.
private func answer(to request: String, at address: String) async throws -> String {
    let parts = address.dropFirst("http://".count).split(separator: ":")
    let group = MultiThreadedEventLoopGroup.singleton
    let promise = group.next().makePromise(of: String.self)
    let channel = try await ClientBootstrap(group: group)
        .channelInitializer { channel in
            channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.eof) }
            return channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(FirstPart(promise))
            }
        }
        .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
    try await channel.writeAndFlush(ByteBuffer(string: request)).get()
    let text = try await promise.futureResult.get()
    try await channel.close().get()
    return text
}

private final class FirstPart: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<String>

    init(_ promise: EventLoopPromise<String>) { self.promise = promise }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.promise.succeed(String(buffer: self.unwrapInboundIn(data)))
    }
}

private final class EventSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let messages: AsyncStream<[UInt8]>.Continuation

    init(_ messages: AsyncStream<[UInt8]>.Continuation) { self.messages = messages }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        guard frame.opcode == .text else { return }
        self.messages.yield(Array(frame.unmaskedData.readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.messages.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
