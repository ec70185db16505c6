import Foundation

/// The program that runs now.
enum Executable {
    static let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
}
