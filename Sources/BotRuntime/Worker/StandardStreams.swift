import Foundation
import Synchronization

/// Writes one whole line to standard output. Ignores errors, which mean that the supervisor is gone.
@Sendable
package func writeToStandardOutput(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    standardOutput.withLock { descriptor in
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

private let standardOutput = {
    // When the supervisor dies, the worker must drain at the end of standard input, and not be killed by SIGPIPE.
    _ = signal(SIGPIPE, SIG_IGN)
    return Mutex<Int32>(STDOUT_FILENO)
}()

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
