import Errors
import Foundation
import LiveTesting
import NIOSSL
import Nostr
import PikaCore
import Testing

@testable import RelayClient

/// `wss://` with a certificate created for the test.
@Suite(.live)
struct TLSTests {
    /// A self-signed certificate, as PEM files in the folder.
    private func certificate(for names: String, in folder: TemporaryFolder) throws -> (certificate: String, key: String)
    {
        let files = (folder.path + "/certificate.pem", folder.path + "/key.pem")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=\(names)"]
            + ["-out", files.0, "-keyout", files.1]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
        return files
    }

    private func withServer(
        for names: String = "DNS:localhost,IP:127.0.0.1",
        _ body: (LyingRelay, _ certificate: String) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let files = try certificate(for: names, in: folder)
        let settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
        let server = try await LyingRelay.start(tls: NIOSSLContext(configuration: settings))
        try await body(server, files.certificate)
        try await server.stop()
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func refusesUnknownIssuer(host: String) async throws {
        try await withServer { server, _ in
            try await withPool { pool, updates in
                await pool.setRelays([.known("wss://\(host):\(server.port)")])
                let reason = await updates.reasonOfLoss()
                #expect(reason?.contains("CERTIFICATE_VERIFY_FAILED") == true, "\(reason ?? "nil")")
            }
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func trustsConfiguredRoot(host: String) async throws {
        try await withServer { server, certificate in
            let relay = RelayURL.known("wss://\(host):\(server.port)")
            try await withPool(configure: { $0.trustRootFiles = [certificate] }) { pool, updates in
                await pool.setRelays([relay])
                let client = try await server.nextClient()
                await updates.wait(for: .state(relay: relay, .connected))
                let reports = await pool.publish(Author.alice.event(), to: [relay])
                #expect(await client.text()?.hasPrefix(#"["EVENT""#) == true)
                client.say(#"["OK","\#(Author.alice.event().id)",true,""]"#)
                for await report in reports { #expect(report.outcome == .accepted) }
            }
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"]) func refusesCertificateForAnotherName(host: String) async throws {
        try await withServer(for: "DNS:other.test,IP:127.0.0.2") { server, certificate in
            try await withPool(configure: { $0.trustRootFiles = [certificate] }) { pool, updates in
                await pool.setRelays([.known("wss://\(host):\(server.port)")])
                let reason = await updates.reasonOfLoss()
                #expect(reason?.contains("failedToValidateHostname") == true, "\(reason ?? "nil")")
            }
        }
    }

    @Test func refusesServerWithoutTLS() async throws {
        let server = try await LyingRelay.start()
        try await withPool { pool, updates in
            await pool.setRelays([.known("wss://localhost:\(server.port)")])
            let reason = await updates.reasonOfLoss()
            #expect(reason?.hasPrefix("TLS: ") == true, "\(reason ?? "nil")")
        }
        try await server.stop()
    }

    @Test(arguments: ["/nowhere.pem", "/etc/hostname"]) func invalidTrustRootsFailAtStart(path: String) async {
        await #expect(throws: TransportError(.badTrustRoots, "")) {
            try await withPool(configure: { $0.trustRootFiles = [path] }) { _, _ in }
        }
    }

    @Test func invalidConfigurationFailsAtStart() async {
        await #expect(throws: TransportError(.badConfiguration, "")) {
            try await withPool(configure: { $0.pingInterval = .zero }) { _, _ in }
        }
        await #expect(throws: TransportError(.badConfiguration, "")) {
            try await withPool(configure: { $0.maximumMessageBytes = 0 }) { _, _ in }
        }
    }
}
