import Foundation
import LiveTesting
import NIOCore
import NIOSSL
import Nostr
import Testing

@testable import Diagnosis

@Suite(.live) struct CertificateFindingsTests {
    private let now: UnixTime = 1_750_000_000
    private var certificates: CertificateFindings {
        CertificateFindings(host: "relay.example", now: now)
    }

    private func certificate(from begin: Int64, to end: Int64) -> TLSReach.Certificate {
        TLSReach.Certificate(begin: now + begin * 86_400, end: now + end * 86_400, names: "other.example")
    }

    @Test(arguments: [(90, .ok), (14, .ok), (13, .warning), (0, .warning)] as [(Int64, Finding.Level)])
    func warnsOfExpiringCertificate(days: Int64, level: Finding.Level) {
        var findings = FindingList("relay")
        certificates.judge(certificate(from: -1, to: days), &findings)
        #expect(findings.all.map(\.level) == [level])
    }

    @Test func explainsInvalidCertificate() {
        func text(_ shown: TLSReach.Certificate?) -> String? {
            var findings = FindingList("relay")
            certificates.judge(failure: NetworkError("the TLS handshake failed"), shown, &findings)
            #expect(findings.all.map(\.level) == [.error])
            return findings.all.first?.text
        }
        #expect(text(nil) == "the TLS handshake failed")
        #expect(text(certificate(from: -90, to: -2)) == "expired 2 days ago")
        #expect(text(certificate(from: 1, to: 90)) == "not valid yet")
        #expect(
            text(certificate(from: -1, to: 90))
                == "not valid for relay.example (its names: other.example), or not signed by a trusted authority")
    }

    /// Returns a TLS context with a self-signed certificate, whose PEM files are written to the folder.
    private func makeCertificate(in folder: String) throws -> NIOSSLContext {
        let files = (folder + "/certificate.pem", folder + "/key.pem")
        let openssl = Process()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "2", "-subj", "/CN=test", "-addext", "subjectAltName=DNS:other.test", "-out", files.0]
            + ["-keyout", files.1]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
        return try NIOSSLContext(
            configuration: TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(files.0).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: files.1, format: .pem))))
    }

    @Test func readsServerCertificate() async throws {
        let folder = NSTemporaryDirectory() + "pikabot-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withPlainServer(tls: try makeCertificate(in: folder)) { port in
            var findings = FindingList("relay")
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            let now = UnixTime.systemTime
            let handshake = await ReachRecord.Handshake.perform(with: "localhost", at: address, within: .seconds(20))
            #expect(handshake.failure != nil)
            CertificateFindings(host: "localhost", now: now).judge(handshake, &findings)
            #expect(
                findings.all.map(\.text) == [
                    "not valid for localhost (its names: test, other.test), or not signed by a trusted authority"
                ])
        }
        // A server without TLS sends no certificate.
        try await withPlainServer { port in
            var findings = FindingList("relay")
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
            let handshake = await ReachRecord.Handshake.perform(with: "localhost", at: address, within: .seconds(5))
            #expect(handshake.failure != nil)
            CertificateFindings(host: "localhost", now: 0).judge(handshake, &findings)
            #expect(findings.all.map(\.check) == ["tls"])
        }
    }
}
