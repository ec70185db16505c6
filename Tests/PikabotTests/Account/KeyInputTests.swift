import ArgumentParser
import BotProgram
import Foundation
import Testing

@testable import pikabot

@Suite struct KeyInputTests {
    @Test func passwordFileTakesPrecedence() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            try "pąss word \r\nmore".write(toFile: directory + "/p", atomically: true, encoding: .utf8)
            let environment = [Password.variable: "other"]
            #expect(try Password.read(file: directory + "/p", environment: environment) == "pąss word ")
            #expect(try Password.read(file: nil, environment: environment) == "other")
            let error = #expect(throws: CommandError.self) {
                try Password.read(file: directory + "/none", environment: environment)
            }
            #expect(error?.description.contains("cannot be read") == true)
        }
    }

    @Test func checksFilesBeforeSending() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            try Data("text".utf8).write(to: URL(fileURLWithPath: directory + "/a.JPG"))
            let file = try LocalFile(path: directory + "/a.JPG")
            #expect(file.filename == "a.JPG" && file.mediaType == "image/jpeg" && file.bytes == Array("text".utf8))
            let named = try LocalFile(path: directory + "/a.JPG", filename: "b", mediaType: "text/plain")
            #expect(named.filename == "b" && named.mediaType == "text/plain")
            for (path, limit, reason) in [
                (directory, 9, "not a regular file"), (directory + "/x", 9, "cannot be read"),
                (directory + "/a.JPG", 3, "4 bytes"),
            ] {
                let error = #expect(throws: CommandError.self) { try LocalFile(path: path, limit: limit) }
                #expect(error?.description.contains(reason) == true)
            }
        }
    }
}
